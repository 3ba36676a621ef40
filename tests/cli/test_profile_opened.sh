#!/bin/sh
# test_profile_opened.sh - the page of a flame graph, used as people use it:
# that of the profile made by hand (tests/support/invented.h), whose names are
# hostile, in a headless Chromium. The programs of others: test_profile_six.sh.
. "$(dirname -- "$0")/lib.sh"
told=$build/tests/cli/profile-told

if [ -z "$(find_browser)" ]; then
	skip "in a browser" "chromium is not installed"
	done_testing
	exit 0
fi
"$told" json cpu >"$work/json"
"$told" flame cpu >"$work/p.html"
check "the page of a flame graph" timeout -k 5 100 "$python" \
	"$source/tests/cli/profile_opened.py" "$work/json" "$work/p.html"
cd "$work" || exit 1
check "pages of many stacks and of a deep one" timeout -k 5 150 "$python" \
	"$source/tests/cli/flame_large.py" "$work/p.html"
done_testing
