# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Programs that reach CUDA's functions in all ways, for --attach inject.  Included by rules.mk; adds to TEST_FILES.

T_INJECT := $(patsubst $(T_DIR)/workloads/%,%,$(basename $(wildcard $(addprefix $(T_DIR)/workloads/inject,.c _args.c _bind.c \
	_ends.c _processes.c _same.c _signal.c _stack.c _throw.cpp))))
T_INJECT_O := $(T_INJECT:%=$(T_OBJ)/workloads/%.o)
T_INJECT_LIBS := $(T_LIB)/libinject-plugin.so $(T_LIB)/libinject-other.so $(T_LIB)/libinject-preload.so
T_ECHO := $(T_LIB)/echo/libcudart.so.13
T_INJECT_BINS := inject inject-now inject-noplt inject-nopie inject-static inject_registers inject_registers-now inject_hostile inject_rights resident_hostile \
	contained
TEST_FILES += $(addprefix $(T_BIN)/,$(T_INJECT_BINS) each) $(T_INJECT_LIBS) $(T_ECHO) $(T_LIB)/each-calls.so

# a way to compile and link: $(1) the suffix, $(2) for the compiler, $(3) for the linker, $(4) the runtime
define t_inject
$(T_OBJ)/workloads/%$(1).inject.o: $(T_DIR)/workloads/%.c | $(T_OBJ)/workloads
	$$(Q)$$(CC) $$(T_CFLAGS) $(2) -c $$< -o $$@
$(T_OBJ)/workloads/%$(1).inject.o: $(T_DIR)/workloads/%.cpp | $(T_OBJ)/workloads
	$$(Q)$$(CXX) $$(T_CXXFLAGS) $(2) -c $$< -o $$@
$(T_BIN)/inject$(1): $(T_INJECT:%=$(T_OBJ)/workloads/%$(1).inject.o) $(4) $(T_LIBCUDA) | $(T_BIN)
	$$(Q)$$(CXX) $(3) -rdynamic -o $$@ $$^ $$(T_RPATH) -pthread -ldl
endef
$(eval $(call t_inject,,-fPIE,-pie -Wl$(T_COMMA)-z$(T_COMMA)lazy,$(T_CUDART)))
$(eval $(call t_inject,-now,-fPIE,-pie -Wl$(T_COMMA)-z$(T_COMMA)now$(T_COMMA)-z$(T_COMMA)relro,$(T_CUDART)))
$(eval $(call t_inject,-noplt,-fPIE -fno-plt,-pie -Wl$(T_COMMA)-z$(T_COMMA)relro,$(T_CUDART)))
$(eval $(call t_inject,-nopie,-fno-pie,-no-pie -Wl$(T_COMMA)-z$(T_COMMA)lazy,$(T_CUDART)))
$(eval $(call t_inject,-static,-fPIE,-pie,$(T_CUDART_A)))

$(T_LIB)/libinject-%.so: $(T_DIR)/workloads/inject_%.c $(T_CUDART) | $(T_LIB)
	$(Q)$(CC) $(T_CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -MF $(T_OBJ)/workloads/inject_$*.d -o $@ $< \
		$(if $(filter plugin,$*),$(T_CUDART)) $(TEST_LDFLAGS) -ldl

# what the tool's own process may call
$(T_LIB)/each-calls.so: $(T_DIR)/unit/each_calls.c | $(T_LIB) $(T_OBJ)/workloads
	$(Q)$(CC) $(T_CFLAGS) -iquote common -fPIC -shared -MF $(T_OBJ)/workloads/each_calls.d -o $@ $< $(TEST_LDFLAGS)

# a runtime that looks at registers, and who calls it
$(T_ECHO): arch/$(ARCH)/tests/inject_echo.S
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -nostdlib -Wl,-soname,$(@F) -o $@ $<
$(T_OBJ)/workloads/inject_registers-asm.o: arch/$(ARCH)/tests/inject_registers.S | $(T_OBJ)/workloads
	$(Q)$(CC) -c $< -o $@
$(T_BIN)/inject_registers $(T_BIN)/inject_registers-now: $(T_OBJ)/workloads/inject_registers.o \
		$(T_OBJ)/workloads/inject_registers-asm.o $(T_ECHO) | $(T_BIN)
	$(Q)$(CC) -o $@ $^ -Wl,-rpath,'$$ORIGIN/../lib/echo' -Wl,-z,$(if $(filter %-now,$@),now,lazy) -ldl

# as a container's programs run
$(T_BIN)/contained: $(T_OBJ)/workloads/contained.o | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(TEST_LDFLAGS)

$(T_OBJ)/workloads/inject_hostile.o $(T_OBJ)/workloads/resident_hostile.o: T_CFLAGS += -iquote common
$(T_BIN)/inject_rights: $(T_OBJ)/workloads/inject_rights.o | $(T_BIN) $(T_LIBCUDA) $(T_CUDART)
	$(Q)$(CC) -o $@ $< $(T_RPATH) $(TEST_LDFLAGS) -pthread -ldl
$(T_BIN)/inject_hostile $(T_BIN)/resident_hostile: $(T_BIN)/%: $(T_OBJ)/workloads/%.o $(T_CUDART) | $(T_BIN) $(T_LIBCUDA)
	$(Q)$(CC) -o $@ $^ $(T_RPATH) $(TEST_LDFLAGS) -pthread -ldl
