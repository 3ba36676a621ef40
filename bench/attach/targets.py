"""targets.py - programs of the distribution that wait for something, each as
its users run it: servers, shells, interpreters, editors on a terminal, a
program with windows. A target is started, settles, and is ended by its pid.
"""
import os
import pty
import shutil
import signal
import subprocess
import tempfile
import time

PYTHON = """
import threading, time, queue, socket, select
def wait_event(): threading.Event().wait()
def wait_queue(): queue.Queue().get()
def wait_accept():
    s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); s.accept()
def wait_select(): select.select([], [], [], 1000)
def wait_sleep(): time.sleep(1000)
for f in (wait_event, wait_queue, wait_accept, wait_select, wait_sleep):
    threading.Thread(target=f, daemon=True).start()
time.sleep(1000)
"""

JAVA = """
public class Waits {
    public static void main(String[] words) throws Exception {
        Object lock = new Object();
        new Thread(() -> { synchronized (lock) { try { lock.wait(); }
            catch (InterruptedException e) {} } }).start();
        Thread.sleep(1000000);
    }
}
"""

REDIS = "port 0\nunixsocket {dir}/redis.sock\nsave ''\ndir {dir}\n"

NGINX = """
daemon off; pid {dir}/nginx.pid; error_log {dir}/error.log;
worker_processes 2;
events {{ worker_connections 64; }}
http {{ access_log off; client_body_temp_path {dir}/b; proxy_temp_path {dir}/p;
fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
server {{ listen unix:{dir}/nginx.sock; }} }}
"""


class Target:
    """`pids` are looked at: the process itself and what it started."""

    def __init__(self, name, process, folder=None, descriptor=None):
        self.name = name
        self.process = process
        self.folder = folder
        self.descriptor = descriptor  # of its terminal

    def pids(self):
        found = [self.process.pid]
        for pid in found:
            try:
                for task in os.listdir(f"/proc/{pid}/task"):
                    path = f"/proc/{pid}/task/{task}/children"
                    with open(path) as file:
                        found += [int(word) for word in file.read().split()]
            except OSError:
                pass
        return found

    def end(self):
        for pid in reversed(self.pids()):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        self.process.wait()
        if self.descriptor is not None:
            os.close(self.descriptor)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def rows(programs):
    """(name, argv, how): how is a set of the words below."""
    yield "sleep", ["sleep", "1000"], set()
    yield "cat", ["cat"], {"pipe"}
    yield "dash", ["dash", "-c", "read x"], {"pipe"}
    yield "bash", ["bash", "-c", "f() { read x; }; f"], {"pipe"}
    yield "bash, waiting", ["bash", "-c", "sleep 1000; true"], set()
    yield "zsh", ["zsh", "-f"], {"tty"}
    yield "perl", ["perl", "-e", "sub f { sleep 1000 } f()"], set()
    yield "python3, 6 threads", ["/usr/bin/python3", "-c", PYTHON], set()
    yield "node", ["node", "-e", "setInterval(() => {}, 1e6)"], {"slow"}
    yield "java", ["java", "Waits"], {"java", "slow"}
    yield "tclsh", ["tclsh"], {"pipe"}
    yield "sqlite3", ["sqlite3"], {"pipe"}
    yield "gdb", ["gdb", "-nx", "-q"], {"tty"}
    yield "less", ["less", "/etc/passwd"], {"tty"}
    yield "vim", ["vim", "-u", "NONE", "/etc/passwd"], {"tty"}
    yield "tmux", ["tmux", "-S", "{dir}/t", "-f", "/dev/null", "-D"], {"tty"}
    yield "top", ["top"], {"tty"}
    yield "htop", ["htop"], {"tty"}
    yield "tail", ["tail", "-f", "/etc/passwd"], set()
    yield "make", ["make", "-f", "{dir}/file"], {"make"}
    yield "bc", ["bc", "-q"], {"pipe"}
    yield "ed", ["ed", "-s"], {"pipe"}
    yield "ssh-agent", ["ssh-agent", "-D", "-a", "{dir}/agent"], set()
    yield "dbus-daemon", ["dbus-daemon", "--session", "--nofork",
                          "--address=unix:path={dir}/bus"], set()
    yield "socat", ["socat", "UNIX-LISTEN:{dir}/s", "EXEC:cat"], set()
    yield "nginx", ["nginx", "-p", "{dir}", "-c", "{dir}/file"], {"nginx"}
    yield "redis-server", ["redis-server", "{dir}/file"], {"redis", "slow"}
    yield "postgres", [programs.get("postgres", "postgres"), "-D",
                       "{dir}/data", "-k", "{dir}", "-h", ""], {"postgres",
                                                                 "slow"}
    yield "Xvfb", ["Xvfb", ":77", "-nolisten", "tcp"], {"slow"}
    yield "xterm, under Xvfb", ["xterm", "-e", "sleep", "1000"], {"x"}
    yield "xclock, under Xvfb", ["xclock"], {"x"}
    yield "wish, under Xvfb", ["wish"], {"x", "pipe"}


def prepare(how, folder, argv):
    if "make" in how:
        text = "all:\n\tsleep 1000\n"
    elif "nginx" in how:
        text = NGINX.format(dir=folder)
    elif "redis" in how:
        text = REDIS.format(dir=folder)
    else:
        text = ""
    with open(f"{folder}/file", "w") as file:
        file.write(text)
    if "java" in how:
        with open(f"{folder}/Waits.java", "w") as file:
            file.write(JAVA)
        subprocess.run(["javac", "-d", folder, f"{folder}/Waits.java"],
                       check=True, capture_output=True)
    if "postgres" in how:
        os.chmod(folder, 0o755)
        shutil.chown(folder, "postgres")
        subprocess.run(["initdb", "-D", f"{folder}/data"], check=True,
                       capture_output=True, user="postgres", group="postgres",
                       extra_groups=[], cwd=folder)
    return [word.format(dir=folder) if "{dir}" in word else word
            for word in argv]


def start(name, argv, how):
    folder = tempfile.mkdtemp(prefix="plim-attach-")
    options = {}
    try:
        argv = prepare(how, folder, argv)
    except (OSError, KeyError, LookupError,
            subprocess.CalledProcessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise RuntimeError(f"{name}: {error}")
    environment = dict(os.environ, TERM="xterm", HOME=folder, LC_ALL="C")
    environment.pop("LD_PRELOAD", None)
    if "x" in how:
        environment["DISPLAY"] = ":77"
    if "postgres" in how:
        options = {"user": "postgres", "group": "postgres",
                   "extra_groups": []}
    descriptor = None
    if "tty" in how:
        descriptor, other = pty.openpty()
        streams = (other, other, other)
    else:
        streams = (subprocess.PIPE if "pipe" in how else subprocess.DEVNULL,
                   subprocess.DEVNULL, subprocess.DEVNULL)
    process = subprocess.Popen(argv, stdin=streams[0], stdout=streams[1],
                               stderr=streams[2], cwd=folder, env=environment,
                               start_new_session=True, **options)
    if "tty" in how:
        os.close(other)
    time.sleep(3.0 if "slow" in how else 0.8)
    return Target(name, process, folder, descriptor)


def is_there(argv):
    return shutil.which(argv[0]) is not None
