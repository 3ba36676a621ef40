"""Every tool of the comparison, ours first."""
from peers.asker import Gopsutil, Libproc2, Psutil
from peers.perf import Perf
from peers.pidstat import Pidstat
from peers.plim import Plim
from peers.procps import Ps, Top
from peers.screen import Btop, Htop

ALL = (Plim, Ps, Top, Pidstat, Htop, Btop, Psutil, Libproc2, Gopsutil,
       Perf)
