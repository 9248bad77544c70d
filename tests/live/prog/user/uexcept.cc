// SPDX-License-Identifier: GPL-2.0-only
// uexcept ROUNDS: probes while C++ exceptions propagate: in destructors, in handlers, in nested and
// rethrown ones, in thrown objects, in threads and callbacks.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "probe.h"

#define ALONE __attribute__((noinline))

// HERE until it is destroyed, also by an exception.
struct Here {
	explicit ALONE Here(uint64_t pc) { probe__push(pc); }
	ALONE ~Here() { probe__pop(); }
};
#define SAY_HERE() Here here_(PROBE_PC())

// Makes a probe when it is destroyed.
struct Guard {
	ALONE ~Guard()
	{
		SAY_HERE();
		probe();
	}
};

// Thrown by value: its copies and its destruction have frames of the runtime.
struct Thrown : std::runtime_error {
	explicit Thrown(const std::string &what) : std::runtime_error(what) {}
	ALONE Thrown(const Thrown &other) : std::runtime_error(other)
	{
		SAY_HERE();
		probe();
	}
	ALONE ~Thrown() override
	{
		SAY_HERE();
		probe();
	}
};

static volatile unsigned long sink;

ALONE static void thrower(unsigned int n)
{
	SAY_HERE();
	if (n & 1)
		throw Thrown("odd");
	throw std::string(100, 'x');
}

ALONE static void deep(volatile unsigned int depth, unsigned int n)
{
	SAY_HERE();
	Guard guard;
	std::vector<unsigned long> room(depth + n % 7 + 1, n);

	if (depth)
		deep(depth - 1, n);
	if (!depth)
		thrower(n);
	sink = sink + room[0];
}

ALONE static void passes(unsigned int n)
{
	SAY_HERE();
	std::string text(n % 50 + 20, 'y');

	try {
		deep(n % 9, n);
	} catch (const std::runtime_error &e) {
		probe();
		throw;
	}
	sink = sink + text.size();
}

ALONE static void handles(unsigned int n)
{
	SAY_HERE();
	try {
		passes(n);
	} catch (const std::string &s) {
		Guard guard;
		probe();
		sink = sink + s.size();
	} catch (const Thrown &t) {
		try {
			thrower(n + 1);
		} catch (...) {
			Guard guard;
			probe();
		}
	}
	probe();
}

ALONE static void never_throws(unsigned int n) noexcept
{
	SAY_HERE();
	handles(n);
	sink = sink + 1;
}

struct Base {
	virtual ~Base() = default;
	virtual void run(unsigned int n) = 0;
};

struct Other {
	virtual ~Other() = default;
	virtual void other(unsigned int n) = 0;
};

// Functions of the second base are called through thunks.
struct Derived : Base, Other {
	ALONE void run(unsigned int n) override
	{
		SAY_HERE();
		never_throws(n);
		sink = sink + 1;
	}
	ALONE void other(unsigned int n) override
	{
		SAY_HERE();
		run(n);
		sink = sink + 1;
	}
};

template <typename T> ALONE static void through(T f, unsigned int n)
{
	SAY_HERE();
	f(n);
	sink = sink + 1;
}

ALONE static void by_library(Other &o, unsigned int n)
{
	SAY_HERE();
	std::vector<int> v{ 3, 1, 2 };
	std::function<void(unsigned int)> f = [&o](unsigned int k) {
		SAY_HERE();
		o.other(k);
		sink = sink + 1;
	};
	bool once = true;

	std::sort(v.begin(), v.end(), [&](int a, int b) {
		SAY_HERE();
		if (once) {
			once = false;
			through(f, n);
		}
		return a < b;
	});
}

// The exception propagates through frames of C, which has none.
static unsigned int of_compare;

ALONE static int compare(const void *, const void *)
{
	SAY_HERE();
	deep(3, of_compare);
	return 0;
}

ALONE static void through_c(unsigned int n)
{
	SAY_HERE();
	int pair[] = { 2, 1 };

	of_compare = n;
	try {
		std::qsort(pair, 2, sizeof(*pair), compare);
	} catch (...) {
		probe();
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10;
	Derived d;

	probe__open();
	SAY_HERE();
	for (unsigned int i = 0; i < rounds; i++) {
		by_library(d, i);
		through_c(i);
	}
	std::thread t([&] {
		SAY_HERE();
		by_library(d, 5);
		probe();
	});
	t.join();
	return 0;
}
