// deep.cc - C++ in which much is inlined: templates twelve deep, the standard
// library's containers, lambdas, virtual functions, exceptions, cold parts.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace deep
{
template <int N> struct level {
	static inline __attribute__((always_inline)) int down(int x)
	{
		return level<N - 1>::down(x * 3 + N) ^ (x >> 1);
	}
};
template <> struct level<0> {
	static inline int down(int x)
	{
		return x + std::max(x, 7);
	}
};

struct shape {
	virtual ~shape() {}
	virtual double area() const = 0;
};
struct square : shape {
	double side;
	explicit square(double value) : side(value) {}
	double area() const override
	{
		auto times = [](double d) { return d * d; };
		return times(side);
	}
};

static int sum(const std::vector<int> &values)
{
	return std::accumulate(values.begin(), values.end(), 0);
}

__attribute__((noinline)) int work(int n)
{
	std::vector<int> values;
	std::map<std::string, int> counts;
	int total = 0;

	for (int i = 0; i < n; i++)
		values.push_back(level<12>::down(i));
	std::sort(values.begin(), values.end(),
		  [](int a, int b) { return (a ^ 5) < (b ^ 5); });
	for (int value : values)
		counts[std::to_string(value)] += value;
	for (auto &pair : counts)
		total += pair.second;
	if (__builtin_expect(n > 100000, 0))
		throw total;
	return total + sum(values);
}
} // namespace deep

int main(int argc, char **)
{
	deep::square square(argc);
	std::function<int(int)> f = [&](int x) {
		return deep::work(x) + (int)square.area();
	};

	try {
		printf("%d\n", f(argc * 1000));
	} catch (int &) {
		return 1;
	}
}
