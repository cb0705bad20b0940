/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls through each prototype of NVIDIA's headers with marked arguments, and looks whether they
 * are where cuda_protos.tbl and nccl_protos.tbl say, of the sizes that they say: functions.inc, made from
 * these, has a FUNCTION(name) for each. */
#include <cstdio>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#if __has_include(<nccl.h>)
#define __CUDA_RUNTIME_H__	/* that overloads functions */
#include <nccl.h>
#endif
extern "C" {
#include "api/cuda_protos.h"
/* The registers of the last call, then its stack: arch/ARCH/tests/callee.S. */
unsigned char words[64][8];
void callee();
void called();
}

/* What callee() calls: copies of arguments may not outlive it. */
static std::function<void()> check;

void called()
{
	check();
}

static int functions, parameters, wrong;

static void complain(const char *name, const char *param, const char *what)
{
	printf("%s: %s: %s\n", name, param, what);
	wrong++;
}

template <class T> T marked(int i)
{
	T value;

	memset(static_cast<void *>(&value), 0x41 + i, sizeof(value));
	return value;
}

static const void *argument(const cuda_param *p)
{
	const void *at = words[p->place - 1];

	if (p->by_reference)
		memcpy(&at, at, sizeof(at));
	return at;
}

static void helper_call(const char *name, const cuda_param *p, int i, size_t size, bool is_float)
{
	unsigned char want[sizeof(words)];

	parameters++;
	memset(want, 0x41 + i, sizeof(want));
	if (p->value.size != size)
		complain(name, p->name, "another size");
	if (is_float != !p->place)
		complain(name, p->name, "a float or not");
	if (p->place && memcmp(argument(p), want, size))
		complain(name, p->name, "not there");
}

template <class R, class... A, int... I>
void call(const char *name, R (*)(A...), std::integer_sequence<int, I...>)
{
	int id = cuda_proto_find(name);
	const cuda_proto *proto = &cuda_protos[id];

	functions++;
	if (id < 0 || proto->nparams != sizeof...(A))
		return complain(name, "", "another number of parameters");
	check = [=] { (helper_call(name, &proto->params[I], I, sizeof(A), std::is_floating_point<A>::value), ...); };
	reinterpret_cast<R (*)(A...)>(callee)(marked<A>(I)...);
}

template <class R, class... A> void call(const char *name, R (*f)(A...))
{
	call(name, f, std::make_integer_sequence<int, sizeof...(A)>());
}

int main()
{
#define FUNCTION(name) call(#name, static_cast<decltype(&name)>(nullptr));
#include "functions.inc"
	printf("%d functions, %d parameters, %d wrong\n", functions, parameters, wrong);
	return wrong != 0;
}
