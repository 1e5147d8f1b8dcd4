# vouch: one Makefile, everything under build/. `make help` lists the targets.
#
#   CC=clang        another compiler
#   CFLAGS, LDFLAGS more flags; wider instruction sets (-march=native) are refused, see src/base/baseline.h
#   BUILD=name      folder under build/ (release, asan, ...); set by the sanitizer targets
#   WERROR=1        warnings are errors (CI)
#   V=1             shows the commands
#   T="test_gguf"   which test programs, F='*truncated*' which tests in them
#   EDITLINE=0      builds without libedit: a conversation in a terminal has no line editor
#   DISTILL=0       builds without OpenBLAS: `vouch distill` says what to install (the default where it is missing)
#   SERVER=0        builds without libmicrohttpd: `vouch serve` says that it isn't there
#   HUB=0           builds without libcurl: names stand for fetched models only, and no server can be checked
#   VOUCH_DATA=folder  public prompts, templates and vocabularies for tests and measurements (../shared/data)
#   SYSTEM=windows  the system that it builds for: linux, macos, windows. The default is this machine's; `make windows`
#                   and `make macos` set all that goes with theirs
#   ALSO=test-programs  what `make windows`, `make static` and `make macos` build besides the command
#   PREFIX, DESTDIR where `make install` puts things (/usr/local)
#   PYTHON=python3  builds the Python package
#   STRIP=          installs binaries with their symbols

CC       ?= cc
AR       ?= ar
PREFIX   ?= /usr/local
BUILD    ?= release
B        := build/$(BUILD)
VERSION  := $(shell sed -n 's/^\#define VOUCH_VERSION "\(.*\)"/\1/p' include/vouch.h)
SYSTEM   ?= $(if $(filter Darwin,$(shell uname -s)),macos,linux)
# strip of macOS takes names from a library that other programs link by.
STRIP    ?= $(if $(filter macos,$(SYSTEM)),,strip)

# As many jobs as processors, unless -j says otherwise.
ifeq ($(MAKELEVEL)$(findstring -j,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN || echo 1)
endif

# Names missing packages in one line, before the compiler complains. `make run` and `make test` install packages first,
# and then call make again.
NEEDY := $(filter-out run test arm test-arm test-windows needs format format-check clean help uninstall,$(or $(MAKECMDGOALS),all))
ifneq ($(filter-out windows static static-% macos macos-% build/windows/% build/static-% build/macos-%,$(NEEDY)),)
MISSING := $(shell CC='$(CC)' EDITLINE='$(EDITLINE)' SERVER='$(SERVER)' HUB='$(HUB)' \
             scripts/missing $(if $(filter-out all install,$(NEEDY)),test))
ifneq ($(MISSING),)
$(error missing: $(MISSING). $(if $(filter Darwin,$(shell uname -s)),On a Mac:  brew,On Debian or Ubuntu:  sudo apt-get) install $(MISSING))
endif
endif

ifneq ($(V),1)
Q := @
say = @printf '  %-5s %s\n' $(1) $(patsubst $(B)/%,%,$@)
endif

ARCH     := $(patsubst arm64,aarch64,$(shell $(CC) -dumpmachine 2>/dev/null | cut -d- -f1))
PKGS     := libpcre2-8 libutf8proc jansson
OS_SRC     := os/common.c os/posix.c os/$(SYSTEM).c
OS_SOCKETS := os/common_sockets.c os/posix_sockets.c
ARM_WITH := -march=armv8.2-a+
SO_NAME   = libvouch.so$(1:%=.%)
SO_FLAGS  = -Wl,-soname,$(SONAME)
ifeq ($(SYSTEM),windows)
# Windows aligns the stack to 16 bytes, and its unwinding tables don't know the wide registers. The compiler checks
# formats as Windows's own printf has them, which lacks %zu, and warns of MinGW's own isfinite and isnan, which convert
# to float in a branch that isn't taken; builds for Linux check both.
OS_SRC    := os/common.c os/windows.c os/windows_process.c os/windows_math.c
OS_SOCKETS := os/common_sockets.c os/windows_sockets.c
OS_OBJ     = $(B)/os/windows.res
OS_CFLAGS := -D_WIN32_WINNT=0x0A00 -D__USE_MINGW_ANSI_STDIO=1 -D_POSIX_THREAD_SAFE_FUNCTIONS -DCURL_STATICLIB \
             -D_FILE_OFFSET_BITS=64 -D__USE_MINGW_ACCESS -fno-asynchronous-unwind-tables -Wa,-muse-unaligned-vector-move \
             -Wno-format -Wno-float-conversion
OS_LIBS   := -static -Wl,--no-insert-timestamp -lsynchronization -lbcrypt -lpsapi -Wl,--stack,8388608
EXE       := .exe
endif
ifeq ($(SYSTEM),macos)
# Without -mcpu, compilers for Macs with Arm use the dot product in all files. zig doesn't know the value of -march, and
# leaves out assertions.
OS_CFLAGS := -UNDEBUG -Wno-enum-float-conversion $(if $(filter aarch64,$(ARCH)),-mcpu=generic)
ARM_WITH  := -mcpu=generic+
SO_NAME   = libvouch$(1:%=.%).dylib
SO_FLAGS  = -Wl,-install_name,@rpath/$(SONAME)
SO_PLACE  = install_name_tool -id $(PREFIX)/lib/$(SONAME) $(D)/lib/$(notdir $(LIB_SO))
endif
export EDITLINE ?= 1
export SERVER ?= 1
export HUB ?= 1
# Tests and programs that miss a file of this folder say so. They know its path from this variable alone.
export VOUCH_DATA ?= ../shared/data
PKG_STATIC := $(if $(filter -static,$(LDFLAGS) $(OS_LIBS)),--static)
PKG_CFLAGS := $(patsubst -I%,-isystem %,$(shell pkg-config $(PKG_STATIC) --cflags $(PKGS) 2>/dev/null))
LIBS     := $(shell pkg-config $(PKG_STATIC) --libs $(PKGS) 2>/dev/null || echo -lpcre2-8 -lutf8proc -ljansson) -lm $(OS_LIBS)
ifeq ($(EDITLINE),1)
EDIT_LIBS := $(shell pkg-config --libs libedit 2>/dev/null || echo -ledit)
endif
DISTILL  ?= $(shell pkg-config --exists openblas 2>/dev/null && echo 1 || echo 0)
ifeq ($(DISTILL),1)
BLAS_CFLAGS := $(shell pkg-config --cflags openblas)
BLAS_LIBS   := -ldl # train/network/blas.c loads OpenBLAS
endif
ifeq ($(SERVER),1)
HTTP_LIBS := $(shell pkg-config $(PKG_STATIC) --libs libmicrohttpd 2>/dev/null || echo -lmicrohttpd)
endif

ifeq ($(HUB),1)
HUB_LIBS := $(shell pkg-config $(PKG_STATIC) --libs libcurl 2>/dev/null || echo -lcurl)
endif

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
        -Wmissing-prototypes -Wpointer-arith -Wvla -Wundef -Wcast-qual -Wwrite-strings
ifeq ($(WERROR),1)
WARN += -Werror
endif
OPT      ?= -O2 -g
INCLUDES = -Iinclude -Isrc -I.
# -ffp-contract=off: a fused multiply-add is written where one is meant, and nowhere else (law L1).
CFLAGS_ALL = $(OPT) $(WARN) -fno-math-errno -fno-trapping-math -fPIC -fvisibility=hidden -pthread \
             -D_GNU_SOURCE $(INCLUDES) $(PKG_CFLAGS) $(OS_CFLAGS) $(SAN) $(CFLAGS) \
             -std=c11 -ffp-contract=off -include src/base/baseline.h
LDFLAGS_ALL = -pthread $(SAN) $(LDFLAGS)

LIB_SRC := $(OS_SRC) $(filter-out src/kernels/vector/%,$(wildcard src/*/*.c src/*/*/*.c src/*/*/*/*.c))
ifeq ($(ARCH),x86_64)
VECTOR_SRC := $(wildcard src/kernels/vector/x86_*.c)
FLOATS   := x86_avx2 x86_avx512
endif
ifeq ($(ARCH),aarch64)
VECTOR_SRC := $(wildcard src/kernels/vector/arm_*.c)
FLOATS   := arm_neon
endif
CLI_SRC  := $(wildcard tool/*.c cli/*.c cli/*/*.c cli/*/*/*.c)
ifeq ($(SERVER),1)
SERVER_SRC := $(wildcard server/*/*.c) $(OS_SOCKETS)
CLI_SRC  += $(SERVER_SRC)
else
CLI_SRC  := $(filter-out cli/serve/models.c cli/serve/scopes.c,$(CLI_SRC))
endif
ifeq ($(HUB),1)
NO_SRC := cli/hub/absent.c cli/check/server/absent.c
else
NO_SRC := cli/hub/bytes/origin.c cli/hub/transfer.c cli/hub/wire.c cli/check/server/client.c
endif
CLI_SRC := $(filter-out $(NO_SRC),$(CLI_SRC))
HUB_SRC := $(filter cli/hub/%,$(CLI_SRC))
TEST_SUPPORT := $(wildcard tests/support/*.c tests/support/*/*.c)
ifeq ($(SYSTEM),windows)
TEST_SUPPORT := $(filter-out tests/support/program/%,$(TEST_SUPPORT))
endif
TRAIN_SRC := $(if $(filter 1,$(DISTILL)),$(wildcard train/*/*.c),train/absent.c)
TESTS    := $(basename $(notdir $(wildcard tests/*/test_*.c)))
ifneq ($(DISTILL),1)
TESTS    := $(filter-out test_train_%,$(TESTS))
endif
ifneq ($(SERVER),1)
TESTS    := $(filter-out test_server%,$(TESTS))
endif
ifneq ($(EDITLINE),1)
TESTS    := $(filter-out test_editor,$(TESTS))
endif
ifeq ($(SYSTEM),macos)
# They replace malloc, trap floating-point exceptions, mount a small disk, and limit the files of a server that runs.
TESTS    := $(filter-out test_memory test_floats test_outputs test_server_http,$(TESTS))
endif
# Tests that start programs, or call what only POSIX has, run on the system that builds.
UNIT_TESTS := $(filter $(TESTS),$(basename $(notdir $(shell grep -LE '"(support/)?program/|<(dlfcn|pty|sys/(mman|resource|wait))\.h>|sigset_t' \
              tests/*/test_*.c))))
FUZZERS  := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
ifneq ($(SERVER),1)
FUZZERS  := $(filter-out fuzz_request,$(FUZZERS))
endif
SEEDERS  := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/seed_*.c))
BENCHES  := $(patsubst bench/%.c,%,$(wildcard bench/*.c))
EXAMPLES := $(patsubst examples/%.c,%,$(wildcard examples/*.c))

# The parts of tables.h
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o) $(FLOATS:%=$(B)/src/kernels/vector/%.floats.o) \
            $(foreach part,numbers codes,$(VECTOR_SRC:%.c=$(B)/%.$(part).o))
CLI_OBJ  := $(CLI_SRC:%.c=$(B)/%.o)
TRAIN_OBJ := $(TRAIN_SRC:%.c=$(B)/%.o)
BITS_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard bits/*.c))
# The parts of training in double precision, for the tests of gradients.
DOUBLE_OBJ := $(patsubst %,$(B)/double/train/network/%.o,blas ops attention loss layer lora head student)
SUP_OBJ  := $(TEST_SUPPORT:%.c=$(B)/%.o) $(B)/bits/values.o
# The measuring programs have the command's flags, messages and files.
BENCH_SUP_OBJ := $(B)/bits/values.o $(patsubst %.c,$(B)/%.o,$(wildcard bench/support/*.c) $(addprefix tool/,flags.c memory.c term.c text.c wrap.c file.c statistics.c))
LIB_A    := $(B)/libvouch.a
LIB_SO   := $(B)/$(call SO_NAME,$(VERSION))
SONAME   := $(call SO_NAME,$(firstword $(subst ., ,$(VERSION))))

.DEFAULT_GOAL := all
.PHONY: all
all: $(LIB_A) $(LIB_SO) $(B)/vouch $(EXAMPLES:%=$(B)/examples/%) ## library, command and examples

# One instruction set a file, its own flags for its own objects.
$(B)/src/kernels/vector/x86_avx2.%.o:       ISA := -DVOUCH_ISA=2 -mavx2 -mfma -mf16c
$(B)/src/kernels/vector/x86_avxvnni.%.o:    ISA := -DVOUCH_ISA=2 -mavx2 -mfma -mf16c -mavxvnni -mgfni
AVX512 := -DVOUCH_ISA=512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c -mprefer-vector-width=512
$(B)/src/kernels/vector/x86_avx512.%.o:     ISA := $(AVX512)
$(B)/src/kernels/vector/x86_avx512vnni.%.o: ISA := $(AVX512) -mavx512vnni
$(B)/src/kernels/vector/x86_avx512gfni.%.o: ISA := $(AVX512) -mavx512vnni -mgfni
$(B)/src/kernels/vector/arm_dotprod.%.o:    ISA := -DVOUCH_ISA=82 $(ARM_WITH)dotprod
$(B)/src/kernels/vector/arm_i8mm.%.o:       ISA := -DVOUCH_ISA=86 $(ARM_WITH)dotprod+i8mm
# Instrumented by clang, they take many minutes to compile; fuzzing runs the plain ones, too.
VECTOR_SAN ?= $(SAN)
$(B)/src/kernels/vector/x86_%.o $(B)/src/kernels/vector/arm_%.o: override SAN := $(VECTOR_SAN)
# Thousands of unrolled lines: what their variables are would take half of the time and nine tenths of the bytes.
# Kernels use no library, so that a static build compiles the same.
$(B)/src/kernels/%.o: PKG_CFLAGS :=
$(B)/src/kernels/%.o: OPT := $(subst -g,-g1,$(subst -O2,-O3,$(OPT)))

# Tests and benchmarks look inside; the command, the examples and the server see the public header only.
$(B)/tool/%.o: INCLUDES := -Iinclude -I.
$(B)/cli/%.o: INCLUDES := -Iinclude -Icli -I.
$(B)/cli/machine.o: INCLUDES += $(if $(filter 1,$(DISTILL)),-DVOUCH_DISTILL) $(if $(filter 1,$(HUB)),-DVOUCH_HUB)
$(B)/cli/hub/siblings.o: INCLUDES += -I$(B)/cli/hub
$(B)/cli/hub/siblings.o: $(B)/cli/hub/siblings.inc
$(B)/cli/hub/siblings.inc: cli/hub/siblings.txt
	@mkdir -p $(@D)
	$(call say,BYTES)
	$(Q)od -An -v -t u1 $< | sed 's/\([0-9][0-9]*\)/\1,/g' >$@
ifeq ($(EDITLINE),1)
$(B)/cli/machine.o: INCLUDES += -DVOUCH_EDITLINE
$(B)/cli/run/chat/editor.o: INCLUDES += -DVOUCH_EDITLINE $(shell pkg-config --cflags libedit 2>/dev/null)
endif
ifeq ($(SERVER),1)
$(B)/cli/serve/serve.o $(B)/cli/serve/models.o $(B)/cli/machine.o: INCLUDES += -Iserver -DVOUCH_SERVER
$(B)/server/%.o: INCLUDES := -Iinclude -Iserver -I. -I$(B)/server $(shell pkg-config --cflags libmicrohttpd 2>/dev/null)
$(B)/server/report/page.o: $(B)/server/page.inc
$(B)/server/page.inc: server/page.html
	@mkdir -p $(@D)
	$(call say,BYTES)
	$(Q)od -An -v -t u1 $< | sed 's/\([0-9][0-9]*\)/\1,/g' >$@
endif
$(B)/examples/%.o: INCLUDES := -Iinclude
$(B)/tests/%.o $(B)/bench/%.o: INCLUDES := -Iinclude -Isrc -Icli -Itests -Ibench -I.
$(B)/tests/test_server_%.o $(B)/tests/fuzz/fuzz_request.o $(B)/tests/fuzz/fuzz_calls.o: INCLUDES += -Iserver
$(B)/bits/%.o: INCLUDES := -Iinclude -Isrc -I.
$(B)/bits/digests.o: bits/digests.inc
$(B)/train/%.o: INCLUDES := -Iinclude -Isrc -I. $(BLAS_CFLAGS)
$(B)/tests/test_train_%.o: INCLUDES := -Iinclude -Isrc -Icli -Itests -Ibench -I. $(BLAS_CFLAGS)
$(B)/tests/test_train_gradients.o: INCLUDES += -DVOUCH_TRAIN_DOUBLE

# Other flags or libraries than last time: everything is built again.
LIBRARIES := $(wildcard $(addprefix $(PKG_CONFIG_LIBDIR:%/lib/pkgconfig=%)/,versions stamps/*))
FLAGS := $(CC) $(OPT) $(SAN) $(CFLAGS) $(LDFLAGS) $(EDITLINE) $(DISTILL) $(SERVER) $(HUB) $(if $(LIBRARIES),$(shell cat $(LIBRARIES) | cksum))
$(if $(NEEDY),$(shell mkdir -p $(B); echo '$(FLAGS)' | cmp -s - $(B)/flags || echo '$(FLAGS)' >$(B)/flags))

# The tests of a room are tests/ROOM/test_NAME.c. Their programs lie together.
vpath test_%.c $(wildcard tests/*/)
# NAME.PART.o has one part of the kernels of NAME.c.
define compile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS_ALL) $(ISA) $(patsubst .%,-DVOUCH_PART=VOUCH_PART_%,$(suffix $(basename $(@F)))) -MMD -MP -c -o $@ $<
endef
$(B)/%.o: %.c Makefile $(B)/flags
	$(compile)

$(foreach part,floats numbers codes,$(eval $(B)/%.$(part).o: %.c Makefile $(B)/flags ; $$(compile)))

$(B)/tests/%.o: %.c Makefile $(B)/flags
	$(compile)

$(B)/double/%.o: INCLUDES := -Iinclude -Isrc -I. $(BLAS_CFLAGS) -DVOUCH_TRAIN_DOUBLE
$(B)/double/%.o: %.c Makefile $(B)/flags
	$(compile)

$(LIB_A): $(LIB_OBJ)
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^

$(LIB_SO): $(LIB_OBJ)
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS_ALL) -shared $(SO_FLAGS) -o $@ $^ $(LIBS)
	@ln -sf $(@F) $(B)/$(SONAME)
	@ln -sf $(SONAME) $(B)/$(SO_NAME)

$(B)/vouch$(EXE): $(CLI_OBJ) $(BITS_OBJ) $(TRAIN_OBJ) $(OS_OBJ) $(LIB_A)
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(EDIT_LIBS) $(BLAS_LIBS) $(HTTP_LIBS) $(HUB_LIBS) $(LIBS)

$(B)/os/windows.res: os/windows.rc os/windows.manifest
	@mkdir -p $(@D)
	$(call say,RC)
	$(Q)$(patsubst %-gcc-posix,%-windres,$(lastword $(CC))) -O coff -o $@ $<

# The library of the Python package. Made for others it has inside what it needs, and exports vouch's functions alone.
PY_LIB := $(if $(filter windows,$(SYSTEM)),vouch.dll,$(if $(filter macos,$(SYSTEM)),libvouch.dylib,libvouch.so))
PY_LINK_vouch.dll      := $(B)/alone/vouch.def
PY_LINK_libvouch.dylib := -Wl,-install_name,@rpath/libvouch.dylib
PY_LINK_libvouch.so    := -Wl,-soname,libvouch.so -Wl,--exclude-libs,ALL -static-libgcc
$(B)/alone/$(PY_LIB): $(LIB_OBJ) $(filter %.def,$(PY_LINK_$(PY_LIB)))
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(filter-out -static -B%,$(LDFLAGS_ALL)) -shared -o $@ $(LIB_OBJ) $(PY_LINK_$(@F)) $(LIBS)

$(B)/alone/vouch.def: include/vouch.h
	@mkdir -p $(@D)
	$(Q){ echo EXPORTS; sed -n 's/^VOUCH_API [^(]*[ *]\(vouch_[a-z0-9_]*\)(.*/\1/p' $<; } >$@

# Builds for another system, with libraries of its own:
# $(call other_system,packages,libraries,compiler,archiver,folder,program,variables)
# Without a number of the build, two builds have the same bytes.
UNNUMBERED := -Wl,--build-id=none
LAUNCHER := $(filter %ccache,$(CC))
define other_system
	@scripts/install $(1)
	@scripts/libraries $(2)
	+@PKG_CONFIG_LIBDIR=build/libraries/$(2)/lib/pkgconfig $(MAKE) --no-print-directory BUILD=$(5) \
	    CC='$(strip $(3))' AR='$(4)' DISTILL=0 EDITLINE=0 $(7) build/$(5)/$(6) $(ALSO)
endef

.PHONY: windows static static-x86_64 static-aarch64 macos macos-arm64 macos-x86_64
windows: MINGW := x86_64-w64-mingw32-
windows: ## the command for Windows on x86-64, build/windows/vouch.exe, without distillation and line editor
	$(call other_system,windows,windows-x86_64,$(LAUNCHER) $(MINGW)gcc-posix,$(MINGW)ar,windows,vouch.exe,SYSTEM=windows)

static: static-x86_64 static-aarch64 ## commands that need no library, build/static-x86_64/vouch and build/static-aarch64/vouch
static-x86_64 static-aarch64: static-%:
	$(call other_system,static,$@,$(LAUNCHER) $(if $(filter $*,$(shell uname -m)),,$*-linux-gnu-)gcc,$*-linux-gnu-ar,$@,vouch,LDFLAGS='-static -Bbuild/libraries/$@/libc $(UNNUMBERED)')

macos: macos-arm64 macos-x86_64 ## the command for macOS 11 and later, build/macos-arm64/vouch and build/macos-x86_64/vouch
macos-arm64 macos-x86_64: ZIG := build/zig/bin/zig
macos-arm64 macos-x86_64: macos-%:
	$(call other_system,macos,$@,$(ZIG) cc -target $(*:arm64=aarch64)-macos.11.0,$(ZIG) ar,$@,vouch,SYSTEM=macos PKG_STATIC=--static LDFLAGS=-s)

$(B)/examples/%: $(B)/examples/%.o $(LIB_A)
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@$(EXE) $^ $(LIBS)
	$(if $(EXE),@mv $@$(EXE) $@)

$(B)/bench/%: $(B)/bench/%.o $(BENCH_SUP_OBJ) $(LIB_A)
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# It draws with the plots of the command's reports.
$(B)/bench/plot: $(B)/cli/report/plot.o

# The arithmetic of the command's reports is tested by itself.
$(B)/tests/test_analyze: $(B)/cli/analyze/acceptance.o
$(B)/tests/test_analyze: $(B)/cli/report/rates.o
$(B)/tests/test_thoughts: $(B)/cli/run/thoughts.o
# It replaces functions of the C library, which must be a shared one.
$(B)/tests/test_memory: override LDFLAGS := $(filter-out -static -B%,$(LDFLAGS))
$(B)/tests/test_progress: $(B)/tool/wrap.o
$(B)/tests/test_wrap: $(B)/tool/wrap.o $(B)/tool/text.o
$(B)/tests/test_analyze $(B)/tests/test_chisquare: $(B)/tool/statistics.o
$(B)/tests/test_train_gradients: $(DOUBLE_OBJ)
$(patsubst %,$(B)/tests/%,$(filter-out test_train_gradients,$(filter test_train_%,$(TESTS)))): $(TRAIN_OBJ)
$(B)/tests/test_train_%: LIBS += $(BLAS_LIBS)
READER_OBJ := $(addprefix $(B)/,$(addprefix server/call/,form.o arguments.o form_grammar.o form_read.o parameter.o literal.o call.o reader.o) server/work/text.o tool/memory.o tool/text.o)
$(addprefix $(B)/tests/,test_server_reader test_server_forms test_server_schemas fuzz/fuzz_calls): $(READER_OBJ)
$(B)/tests/test_server_fuzz $(B)/tests/fuzz/fuzz_request: $(patsubst %.c,$(B)/%.o,$(SERVER_SRC) $(wildcard tool/*.c))
$(B)/tests/test_server_fuzz $(B)/tests/fuzz/fuzz_request: LIBS += $(HTTP_LIBS)
$(B)/tests/test_reports: $(patsubst %,$(B)/cli/bench/%.o,bench_files bench_html bench_table configs load load_report summary)
$(B)/tests/test_dialog: $(B)/cli/bench/dialog.o
$(B)/tests/test_reports $(B)/tests/test_dialog: $(patsubst %.c,$(B)/%.o,$(wildcard tool/*.c cli/options/*.c cli/model/*.c cli/report/*.c) $(HUB_SRC))
$(B)/tests/test_reports $(B)/tests/test_dialog: LIBS += $(HUB_LIBS)
$(B)/tests/test_hub_names: $(patsubst %,$(B)/cli/hub/%.o,bytes/digest files name)
$(B)/tests/%: $(B)/tests/%.o $(SUP_OBJ) $(OS_OBJ) $(LIB_A)
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS_ALL) $(TEST_LDFLAGS_$*) -o $@$(EXE) $(filter %.o %.res,$^) $(LIB_A) -lcmocka $(LIBS)
	$(if $(EXE),@mv $@$(EXE) $@)

# The command with one thing broken, which `vouch check` has to find; `plain` only lacks the vector kernels.
# Apple's linker doesn't know --wrap.
BROKEN := $(if $(filter macos,$(SYSTEM)),,judge joint rollback kernels tables order digests plain)
BROKEN_WRAP_judge := vouch_judge
BROKEN_WRAP_joint := vouch_traverse
BROKEN_WRAP_rollback := vouch_memory_rewind vouch_memory_keep_path
BROKEN_WRAP_kernels := vouch_kernels_find
BROKEN_WRAP_tables := vouch_kernels_get
BROKEN_WRAP_order := vouch_kernels_get vouch_kernels_find
BROKEN_WRAP_digests := bits_expected
BROKEN_WRAP_plain := vouch_kernels_get vouch_kernels_find vouch_cpu_name
$(B)/tests/broken/%: $(B)/tests/broken/%.o $(CLI_OBJ) $(BITS_OBJ) $(TRAIN_OBJ) $(OS_OBJ) $(LIB_A)
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS_ALL) $(BROKEN_WRAP_$*:%=-Wl,--wrap=%) -o $@$(EXE) $^ $(EDIT_LIBS) $(BLAS_LIBS) $(HTTP_LIBS) $(HUB_LIBS) $(LIBS)
	$(if $(EXE),@mv $@$(EXE) $@)

# Fails calls of the programs that load it. Its filter of system calls knows the registers of Linux on x86.
SHORTAGE := $(if $(filter linux/x86_64,$(SYSTEM)/$(ARCH)),$(B)/tests/shortage.so)
$(B)/tests/shortage.so: $(B)/tests/shortage/shim.o
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS_ALL) -shared -o $@ $^ -ldl

$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(SUP_OBJ) $(LIB_A)
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(LIB_A) -lcmocka $(LIBS)

.SECONDARY:

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# ------------------------------------------------------------------ run

.PHONY: run
run: ## installs what is missing, builds, gets a model and answers a question
	@scripts/run.sh

.PHONY: head
head: all ## teaches a head for the default model, in hours; goes on where it was interrupted
	@BUILD=$(BUILD) scripts/head.sh

# ------------------------------------------------------------------ tests

.PHONY: needs tests test-programs programs check test test-installed test-all arm test-arm test-windows unit-tests asan ubsan tsan cover fuzz fuzzers
TIER ?= test
RUN_TESTS = BUILD=$(BUILD) CC='$(CC)' VOUCH_TEST_FILTER='$(F)' tests/run.sh

test-programs: $(TESTS:%=$(B)/tests/%)

tests: all benches test-programs $(BROKEN:%=$(B)/tests/broken/%) $(SHORTAGE)

check: tests ## fast tests, about a minute, no download: every commit
	@$(RUN_TESTS) check $(T)

needs: ## installs the packages that building and testing need, with apt-get
	@CC='$(CC)' scripts/install test distill

test: needs ## installs what is missing, then tests everything the README promises; about 20 minutes
	@$(MAKE) --no-print-directory test-installed

test-installed: tests
	@$(RUN_TESTS) test $(T)

test-all: ## the same with gcc, clang and sanitizers, then lint; half an hour
	$(MAKE) BUILD=gcc CC=gcc WERROR=1 test
	$(MAKE) BUILD=clang CC=clang WERROR=1 test
	$(MAKE) asan
	$(MAKE) ubsan
	$(MAKE) tsan
	$(MAKE) lint

programs: $(B)/vouch $(EXAMPLES:%=$(B)/examples/%) test-programs $(BROKEN:%=$(B)/tests/broken/%) $(BENCHES:%=$(B)/bench/%)
unit-tests: $(UNIT_TESTS:%=$(B)/tests/%) $(BROKEN:%=$(B)/tests/broken/%) $(EXAMPLES:%=$(B)/examples/%)

arm: ## static command and test programs for Linux on Arm, in build/static-aarch64, without distillation
	@scripts/install arm
	@$(MAKE) --no-print-directory static-aarch64 ALSO=programs
	@tests/emulate static-aarch64 emulated

test-arm: arm ## the tests for Arm, cross-compiled and emulated
	@tests/run.sh arm $(T)

test-windows: ## unit tests and tests of the command for Windows, cross-compiled and run by Wine
	@$(MAKE) --no-print-directory $(B)/vouch tests
	@scripts/install wine
	@$(MAKE) --no-print-directory windows ALSO=unit-tests
	@tests/emulate windows wine
	@tests/run.sh windows $(T)

# A finding ends the program with this status, so that a test sees it in a child, too.
asan ubsan tsan: export ASAN_OPTIONS ?= exitcode=99:detect_stack_use_after_return=1
asan ubsan tsan: export UBSAN_OPTIONS ?= print_stacktrace=1
asan ubsan tsan: export TSAN_OPTIONS ?= exitcode=99:halt_on_error=1:suppressions=$(CURDIR)/tests/tsan.supp

asan: ## tests under AddressSanitizer and UndefinedBehaviorSanitizer; TIER=check is shorter
	$(MAKE) BUILD=asan OPT='-O1 -g -fno-omit-frame-pointer' \
	    SAN='-fsanitize=address,undefined -fno-sanitize-recover=all' $(TIER)

ubsan: ## tests under clang's UndefinedBehaviorSanitizer, which sees other things than gcc's
	$(MAKE) BUILD=ubsan CC=clang OPT='-O2 -g' \
	    SAN='-fsanitize=undefined,float-cast-overflow,nullability -fno-sanitize-recover=all' VECTOR_SAN= $(TIER)

tsan: ## tests under ThreadSanitizer
	$(MAKE) BUILD=tsan OPT='-O1 -g -fno-omit-frame-pointer' SAN=-fsanitize=thread $(TIER)

cover: ## tests with gcov: covered lines, a file a line
	$(MAKE) BUILD=cover CC=gcc OPT='-O0 -g' SAN=--coverage $(TIER)
	@scripts/cover.sh build/cover

fuzzers: $(FUZZERS:%=$(B)/tests/fuzz/%) $(SEEDERS:%=$(B)/tests/fuzz/%)

fuzz: ## libFuzzer, FUZZ_SECONDS=60 for each target (needs clang)
	$(MAKE) BUILD=fuzz CC=clang OPT='-O1 -g' \
	    SAN='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' VECTOR_SAN= fuzzers
	@tests/fuzz/run.sh build/fuzz $(FUZZERS)

# ------------------------------------------------------------------ measuring

.PHONY: bench benches same-bytes
benches: all $(BENCHES:%=$(B)/bench/%)

bench: benches ## speed on this machine; LLAMA_BENCH=path compares with llama.cpp's llama-bench
	@BUILD=$(BUILD) bench/compare-llama $(if $(wildcard $(VOUCH_DATA)/prompts),--prompts 80)

same-bytes: benches ## law L2 on a real model: 40 prompts, every drafter, thread count and cpu; an hour
	@$(B)/bench/same_bytes

# ------------------------------------------------------------------ tidiness

.PHONY: format format-check lint
format: ## formats the C files; installs clang-format 19 where it is missing
	@scripts/install format
	@scripts/format.sh write

format-check: ## shows what `make format` would change
	@scripts/format.sh check

lint: ## clang-tidy, cppcheck and shellcheck: no findings; `make test` runs all but clang's analyser
	@scripts/lint.sh all

# ------------------------------------------------------------------ installing

.PHONY: install uninstall
D := $(DESTDIR)$(PREFIX)
COMPLETIONS := bash-completion/completions/vouch zsh/site-functions/_vouch fish/vendor_completions.d/vouch.fish
STRIPPED := $(if $(STRIP),-s --strip-program=$(STRIP))

install: all ## command, library, manual page and completions into PREFIX, under DESTDIR
	install -d $(D)/bin $(D)/include $(D)/lib/pkgconfig $(D)/share/man/man1 $(dir $(COMPLETIONS:%=$(D)/share/%))
	install -m 755 $(STRIPPED) $(B)/vouch $(D)/bin/vouch
	install -m 644 include/vouch.h $(D)/include/vouch.h
	install -m 644 $(LIB_A) $(D)/lib/libvouch.a
	install -m 755 $(STRIPPED) $(LIB_SO) $(D)/lib/$(notdir $(LIB_SO))
	$(SO_PLACE)
	ln -sf $(notdir $(LIB_SO)) $(D)/lib/$(SONAME)
	ln -sf $(SONAME) $(D)/lib/$(SO_NAME)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' scripts/vouch.pc.in \
	    >$(D)/lib/pkgconfig/vouch.pc
	$(B)/vouch help --man >$(D)/share/man/man1/vouch.1
	$(B)/vouch help --completion bash >$(D)/share/bash-completion/completions/vouch
	$(B)/vouch help --completion zsh >$(D)/share/zsh/site-functions/_vouch
	$(B)/vouch help --completion fish >$(D)/share/fish/vendor_completions.d/vouch.fish
	@test -n "$(DESTDIR)" || ldconfig 2>/dev/null || true
ifeq ($(filter /usr /usr/local,$(PREFIX)),)
	@echo 'To use what is in $(PREFIX):'
	@echo '  export PATH=$(PREFIX)/bin:$$PATH MANPATH=$(PREFIX)/share/man:'
	@echo '  export PKG_CONFIG_PATH=$(PREFIX)/lib/pkgconfig LD_LIBRARY_PATH=$(PREFIX)/lib'
endif

uninstall: ## removes the files that install put there; needs the same PREFIX and DESTDIR
	rm -f $(D)/bin/vouch $(D)/include/vouch.h $(D)/lib/libvouch.a $(D)/lib/$(SO_NAME) $(D)/lib/$(SONAME) \
	    $(D)/lib/$(notdir $(LIB_SO)) $(D)/lib/pkgconfig/vouch.pc $(D)/share/man/man1/vouch.1 \
	    $(COMPLETIONS:%=$(D)/share/%)

# ------------------------------------------------------------------ packages

.PHONY: python wheel deb
PYTHON ?= python3
PY     := $(B)/python/vouch
python: all ## the Python package, to be used with PYTHONPATH=build/release/python
	@mkdir -p $(PY)/bin
	$(Q)install -m 644 python/vouch/*.py python/vouch/py.typed $(PY)
	$(Q)$(PYTHON) python/abi.py include/vouch.h $(PY)/_abi.py $(CC)
	$(Q)install -m 755 $(STRIPPED) $(LIB_SO) $(PY)/$(PY_LIB)
	$(Q)install -m 755 $(STRIPPED) $(B)/vouch $(PY)/bin/vouch

wheel: ## the Python package as a wheel in build/wheel
	$(PYTHON) -m pip wheel --no-deps --wheel-dir build/wheel .

deb: ## a Debian package in build/deb
	@$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$(CURDIR)/build/deb/root
	@scripts/deb build/deb/root $(VERSION)

# ------------------------------------------------------------------ the rest

.PHONY: help clean
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 16
	@echo; echo 'Variables, as in `make install PREFIX=$$HOME/.local`:'
	@sed -n 's/^#   \([A-Z]\)/  \1/p' Makefile

clean: ## removes build/
	rm -rf build
