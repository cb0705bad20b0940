# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# The tools run as root and read what other users wrote: how they are compiled and linked, whatever
# CFLAGS and LDFLAGS are, which come later and win.  HARDEN= leaves all of it out.  Kept by
# tests/hardening.t.  Included by the Makefile, which has set CC, CFLAGS and BRANCH_PROTECTION.
HARDEN ?= -fstack-protector-strong -fstack-clash-protection $(BRANCH_PROTECTION) -fPIE

# those that the compiler knows: one try for all, and one for each if that fails
harden_knows = $(shell $(CC) -Werror $(1) -c -xc /dev/null -o /dev/null 2>/dev/null && echo yes)
HARDEN_CC := $(if $(call harden_knows,$(HARDEN)),$(HARDEN),$(foreach f,$(HARDEN),$(if \
	$(call harden_knows,$(f)),$(f))))

# FORTIFY needs optimization, hides accesses from the sanitizers, and may be set by a distribution
harden_optimized := $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))
ifneq ($(and $(HARDEN),$(harden_optimized)),)
ifeq ($(findstring _FORTIFY_SOURCE,$(CFLAGS))$(findstring -fsanitize,$(CFLAGS)),)
HARDEN_CC += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
endif
endif

ifneq ($(HARDEN),)
HARDEN_LD := -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
endif
HARDEN_PIE := $(if $(filter -fPIE,$(HARDEN_CC)),-fPIE -pie)
HARDEN_STATIC := $(if $(HARDEN_PIE),-static-pie,-static)
