/*
 * storm_throw.cc - an object that throws: through frames that have something
 * to destroy, again from a handler, and past a handler of another kind.
 */
#include <stdint.h>

extern "C" uint64_t storm_throw(uint64_t count);

namespace
{

struct thrown {
	uint64_t value;
};

struct other {
	int value;
};

class counted
{
      public:
	explicit counted(uint64_t *count) : count_(count)
	{
	}
	~counted()
	{
		++*count_;
	}

      private:
	uint64_t *count_;
};

__attribute__((noinline)) uint64_t deep(uint64_t value, unsigned depth,
					uint64_t *destroyed)
{
	counted own(destroyed);

	if (depth == 0)
		throw thrown{value};
	try {
		return deep(value, depth - 1, destroyed) + 1;
	} catch (const other &) {
		return 0;
	} catch (thrown &caught) {
		if (depth % 3 != 0)
			throw;
		caught.value++;
		throw thrown{caught.value};
	}
}

} // namespace

extern "C" uint64_t storm_throw(uint64_t count)
{
	uint64_t destroyed = 0;
	uint64_t sum = THROWER;

	for (uint64_t i = 0; i < count; i++) {
		try {
			sum += deep(i, 6, &destroyed);
		} catch (const thrown &caught) {
			sum = sum * 31 + caught.value;
		}
	}
	return sum * 31 + destroyed;
}
