#!/bin/sh
# test_jit.sh - programs whose functions are made at run time: all of their
# stacks are whole, from the function to main, and have the names that the
# program tells; in the part of it that was made while it was looked at, and
# when it has ended before the profile has.
. "$(dirname -- "$0")/cases.sh"
needs_perf

# told WORD...: by the name, how often the samples' stacks end in which way.
told() {
	look ends running "$@"
}
# whole WHAT NAME...: every sample with these functions has a whole stack.
whole() {
	what=$1
	shift
	found=$(told "$@")
	case $found in
	root=[1-9]*[0-9]) [ "${found#* }" = "$found" ] && pass "$what" ;;
	*) false ;;
	esac || {
		echo "# $* ends $found"
		fail "$what"
	}
}

# --- python's trampolines, as a program of ours makes them -------------------
profile -F 500 --for 60s -- "$workloads/trampolines" 500
made "a program that ended by itself"
rm -f "/tmp/perf-$(fact .profile.pid).map"
for name in early "late.<lambda>"; do
	whole "py::$name: whole, through py::outer" \
		"py::$name:/srv/app.py" "py::outer:/srv/app.py" main
	is "py::$name: nothing of it is elsewhere" \
		"$(told "py::$name:/srv/app.py")" \
		"$(told "py::$name:/srv/app.py" py::outer:/srv/app.py main)"
done
run profile -F 500 --for 60s -- "$workloads/trampolines" 100
rm -f "/tmp/perf-$(sed -n 's/^profile  *trampolines  *\([0-9]*\)@.*/\1/p' \
	"$work/out").map"
check "text has the whole name of a lambda" \
	grep -q ' < py::late\.<lambda>:/srv/app\.py\( <\|$\)' "$work/out"

# drop_map: of the program that was profiled last.
drop_map() {
	rm -f "/tmp/perf-$(fact .profile.pid).map"
}
# mostly WHAT LEAST PATTERN...: of at least 20 samples with functions like the
# first one so many per mille are whole and have the others.
mostly() {
	what=$1 least=$2
	shift 2
	found=$(look whole running "$@")
	within "$what: there are samples" 20 1000000 "${found#* }"
	within "$what: whole" "$least" 1000 "${found% *}"
}

# --- node ---------------------------------------------------------------------
cat >"$work/app.js" <<'END'
const us = (since) => { const u = process.cpuUsage(since); return u.user + u.system; };
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function numbers() { return fib(18); }
function texts() { return [...Array(500).keys()].map((i) => 'w' + i * 7919 % 503).sort().length; }
function spend(most, work) {
  const since = process.cpuUsage();
  do work(); while (us(since) < most);
  return us(since);
}
const a = spend(400000, () => numbers()), b = spend(200000, () => texts());
require('fs').writeFileSync(process.argv[2], String(Math.round(1000 * a / (a + b))));
END
if command -v node >/dev/null 2>&1; then
	# What is inlined has no frame, and no line in a map.
	profile -F 999 --for 60s -- node --no-turbo-inlining --perf-basic-prof \
		--interpreted-frames-native-stack "$work/app.js" "$work/truth"
	made "node"
	drop_map
	# By 18 a function is a LazyCompile or a Function without a column;
	# what Debian strips has no names of its own.
	js='(JS|LazyCompile|Function):'
	mostly "node: numbers" 990 "$js.numbers .*/app.js:3(:.*)?" \
		"$js.spend .*/app.js:5(:.*)?" '(_start|node\+.*)'
	mostly "node: texts" 990 "$js.texts .*/app.js:4(:.*)?" \
		"$js.spend .*/app.js:5(:.*)?" '(_start|node\+.*)'
	truth=$(cat "$work/truth")
	within "node: the share that the program counts itself" \
		$((truth - 80)) $((truth + 80)) \
		"$(look part running "$js.numbers .*" "$js.texts .*")"
else
	skip "node" "node is not installed"
fi

# --- python, from 3.12 on -----------------------------------------------------
cat >"$work/app.py" <<'END'
import time
def numbers(n):
    return n if n < 2 else numbers(n - 1) + numbers(n - 2)
def texts():
    return sorted(("w%d" % (i * 7919 % 503) for i in range(500)),
                  key=lambda text: text[::-1])
def spend(most, work):
    end = time.process_time() + most
    while time.process_time() < end:
        work()
spend(.3, lambda: numbers(15))
spend(.2, texts)
END
snake=
for found in python3 python3.12 python3.13 python3.14; do
	"$found" -X perf -c 'import sys
sys.exit(not sys.is_stack_trampoline_active())' >/dev/null 2>&1 &&
		snake=$found
done
if [ -n "$snake" ]; then
	profile -F 999 --for 60s -- "$snake" -X perf "$work/app.py"
	made "python"
	drop_map
	mostly "python: numbers" 990 'py::numbers:.*/app.py' \
		'py::spend:.*/app.py' 'py::<module>:.*/app.py' _start
	mostly "python: texts" 990 'py::texts:.*/app.py' \
		'py::spend:.*/app.py' 'py::<module>:.*/app.py' _start
	within "python: the share that it was told" 520 680 \
		"$(look part running 'py::numbers:.*' 'py::texts:.*')"
else
	skip "python" "no python with perf maps is installed"
fi

# --- Java ---------------------------------------------------------------------
# By the thread's CPU time: what is sampled while it is still interpreted, at the
# beginning, is a share of all samples that a loaded machine must not change.
cat >"$work/App.java" <<'END'
public class App {
    static final java.lang.management.ThreadMXBean clock =
        java.lang.management.ManagementFactory.getThreadMXBean();
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static void spend(long ns) {
        long end = clock.getCurrentThreadCpuTime() + ns;
        while (clock.getCurrentThreadCpuTime() < end) fib(20);
    }
    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(() -> spend(1000000000L), "number-worker");
        worker.start();
        worker.join();
    }
}
END
java_map='-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit'
if javac -d "$work" "$work/App.java" >/dev/null 2>&1 &&
	java $java_map -cp "$work" -version >/dev/null 2>&1; then
	profile -F 999 --for 60s -- java -XX:+PreserveFramePointer $java_map \
		-cp "$work" App
	made "Java"
	drop_map
	mostly "Java: fib" 950 'int App.fib\(.*' 'start_thread|clone3?'
	is "Java: the thread's name" number-worker \
		"$(look thread_of 'int App.fib\(.*')"
	# Without, callers are left out; then it must not look whole.
	profile -F 999 --for 60s -- java $java_map -cp "$work" App
	drop_map
	found=$(look whole running 'int App.fib\(.*')
	within "Java without frame pointers: there are samples" 20 1000000 \
		"${found#* }"
	within "Java without frame pointers: no caller is left out" 0 50 \
		"${found% *}"
else
	skip "Java" "no Java is installed"
fi
done_testing
