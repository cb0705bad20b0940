/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/die.h"
#include "base/plural.h"
#include "view/gpu_notes.h"

/* Of an image that was left alone; INJECT_NO_SITES is what was asked for. */
static const char *const left_alone[INJECT_STATUSES] = {
	[INJECT_NO_PTX] = "machine code only",
	[INJECT_NEWER] = "only PTX for later devices than this one",
	[INJECT_TOO_MANY] = "more places to measure than --max-sites",
	[INJECT_OLD] = "PTX older than version 6.2 or sm_70",
	[INJECT_LINKED] = "code that other images are linked with",
	[INJECT_BAD] = "PTX that could not be rewritten",
};

static void say_texts(const struct gpu_image_count *c)
{
	for (unsigned i = 0; i < c->num_texts; i++)
		warning(0, "  %llu image%s: %s", c->text[i].images, plural(c->text[i].images), c->text[i].text);
}

static void say_images(const struct gpu_images *images, bool verbose)
{
	unsigned long long fewer = 0;

	for (int i = 0; i < INJECT_STATUSES; i++) {
		const struct gpu_image_count *c = &images->by[i];

		fewer += c->fewer_warps;
		if (!c->images || !left_alone[i])
			continue;
		if (c->kernels)
			warning(0, "%llu image%s with %s: %llu kernel%s not measured", c->images, plural(c->images),
				left_alone[i], c->kernels, plural(c->kernels));
		else	/* nobody has counted them in machine code */
			warning(0, "%llu image%s with %s: not measured", c->images, plural(c->images), left_alone[i]);
		if (verbose || i == INJECT_BAD)
			say_texts(c);
	}
	if (fewer)
		warning(0, "%llu kernel%s with fewer resident warps than without the tool (--keep-registers keeps them)",
			fewer, plural(fewer));
}

void gpu_notes(const struct gpu_modules *m, unsigned left, bool verbose)
{
	struct gpu_losses losses = gpu_modules_losses(m);

	say_images(&m->images, verbose);
	if (m->refused)
		warning(0, "%llu module%s not kept: too many, or too large", m->refused, plural(m->refused));
	if (losses.lost)
		warning(0, "%llu record%s lost: overwritten before they were read (a shorter --period loses fewer)",
			losses.lost, plural(losses.lost));
	if (losses.dropped)
		warning(0, "%llu record%s dropped: too many to keep", losses.dropped, plural(losses.dropped));
	if (losses.failed)
		warning(0, "%llu reading%s of the GPU's memory failed: %s", losses.failed, plural(losses.failed),
			m->failure ?: "for no known reason");
	if (left)
		warning(0, "%u process%s still running: what they did since they were last read is missing", left,
			left == 1 ? "" : "es");
}
