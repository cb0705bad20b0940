/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes what a process chooses of who it seems to be: names of cgroups, texts of labels, CUDA_VISIBLE_DEVICES. */
#include "nvml/device_env.h"
#include "nvml/nvml.h"
#include "cudaexporter/label_sets.h"
#include "fuzz.h"

static bool consists_of(const char *text, const char *chars)
{
	return !text[strspn(text, chars)];
}

static void names(const char *text)
{
	struct cgroup_names in;
	size_t pod;

	cgroup_names_parse(text, &in);
	pod = strlen(in.pod);
	CHECK(!*in.container || strlen(in.container) == 64);
	CHECK(!pod || pod == 36 || pod == 32);
	CHECK(strlen(in.job) < sizeof(in.job));
	CHECK(consists_of(in.container, "0123456789abcdef") && consists_of(in.pod, "0123456789abcdef-"));
	CHECK(consists_of(in.job, "0123456789"));
	CHECK(strstr(text, in.container) && strstr(text, in.job));
}

/* As Prometheus reads it: a backslash stands before a backslash, a quote or n. */
static void value(const char *text)
{
	const char *s;

	capture(false);
	label_value(stdout, text);
	s = captured();
	CHECK(printable(s, false) >= 0);
	CHECK(strlen(s) <= 5 * strlen(text));
	for (; *s; s++) {
		CHECK(*s != '"');
		if (*s == '\\')
			CHECK(strchr("\\\"n", *++s) && *s);
	}
}

static void device(const char *text, const struct input *more)
{
	struct nvml_device gpus[3] = {
		{ .uuid = "GPU-aa", .name = "A", .minor = 0 }, { .uuid = "GPU-ab", .name = "A", .minor = 1 },
		{ .uuid = "GPU-b", .name = "A", .minor = 2, .nmigs = 1, .migs = { "MIG-c" } },
	};
	const struct nvml n = { .ndevices = 3, .devices = gpus };
	struct device_env env = { .restricted = true, .nodes = more->left & 7 };
	bool seen[3] = { false };
	const char *why;
	int gpu;

	snprintf(env.visible, sizeof(env.visible), "%s", text);
	for (unsigned i = 0; i < 4; i++) {
		gpu = device_find(&env, &n, 1, i, &why);
		CHECK(gpu >= -1 && gpu < 3 && (gpu >= 0 || why));
		CHECK(gpu < 0 || !seen[gpu]);
		CHECK(gpu < 0 || !env.nodes || env.nodes >> gpu & 1);
		if (gpu >= 0)
			seen[gpu] = true;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	char *text = take_text(&in);

	names(text);
	value(text);
	device(text, &in);
	free(text);
	return 0;
}
