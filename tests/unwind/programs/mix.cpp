// mix.cpp - what C++ does to stacks: virtual calls, containers, regular
// expressions, sorting with callbacks, exceptions through several frames,
// streams, and the clock of the vDSO. It goes on until it is ended.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
	virtual ~Shape() = default;
	virtual double area(int depth) const = 0;
};
struct Square : Shape {
	double side;
	explicit Square(double length) : side(length) {}
	double area(int depth) const override
	{
		return depth > 0 ? area(depth - 1) + 1 : side * side;
	}
};
struct Pair : Shape {
	std::unique_ptr<Shape> left, right;
	double area(int depth) const override
	{
		return left->area(depth) + right->area(depth);
	}
};

static std::unique_ptr<Shape> grow(int levels)
{
	if (levels == 0)
		return std::make_unique<Square>(levels + 1.5);
	auto pair = std::make_unique<Pair>();
	pair->left = grow(levels - 1);
	pair->right = grow(levels - 1);
	return pair;
}

static int thrower(int depth)
{
	std::string kept(static_cast<size_t>(depth) + 20, 'x');
	if (depth == 0)
		throw std::runtime_error(kept);
	return thrower(depth - 1) + static_cast<int>(kept.size());
}

static int catcher(int depth)
{
	try {
		return thrower(depth);
	} catch (const std::runtime_error &error) {
		return static_cast<int>(std::string(error.what()).size());
	}
}

static int by_value(const void *left, const void *right)
{
	int a = *static_cast<const int *>(left);
	int b = *static_cast<const int *>(right);
	return (a > b) - (a < b);
}

int main()
{
	auto shape = grow(5);
	unsigned long sum = 0;

	for (unsigned round = 1;; round++) {
		std::map<std::string, int> counts;
		std::ostringstream text;
		std::vector<int> numbers(200);
		timespec now;

		sum += static_cast<unsigned long>(shape->area(3));
		for (auto &number : numbers)
			number = static_cast<int>((round += 7919) % 1000);
		std::qsort(numbers.data(), numbers.size(), sizeof(int),
			   by_value);
		std::sort(numbers.begin(), numbers.end(),
			  [](int a, int b) { return a > b; });
		for (int number : numbers)
			counts["key" + std::to_string(number)]++;
		for (const auto &entry : counts)
			text << entry.first << '=' << entry.second << ' ';
		std::regex pattern("key([0-9]+)=([12]) ");
		std::string line = text.str().substr(0, 200);
		for (std::sregex_iterator i(line.begin(), line.end(), pattern),
		     end;
		     i != end; ++i)
			sum += (*i)[1].str().size();
		sum += static_cast<unsigned long>(catcher(8));
		for (int i = 0; i < 200; i++) {
			clock_gettime(CLOCK_MONOTONIC, &now);
			sum += static_cast<unsigned long>(now.tv_nsec);
		}
		std::cout << sum << std::endl;
	}
}
