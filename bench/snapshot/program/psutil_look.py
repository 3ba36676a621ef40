# One look at every process with psutil for each line of standard input;
# answers with its own CPU time in ns and the number of processes.
import sys
import time

import psutil

ATTRIBUTES = ["pid", "ppid", "create_time", "name", "cpu_times",
              "memory_info", "num_threads", "io_counters", "num_ctx_switches"]

for _ in sys.stdin:
    begin = time.process_time_ns()
    count = sum(1 for _ in psutil.process_iter(ATTRIBUTES))
    print(time.process_time_ns() - begin, count, flush=True)
