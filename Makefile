# vouch: one Makefile, everything under build/. `make help` lists the targets.
#
#   BUILD=name      folder under build/ (release, asan, ...); set by the sanitizer targets
#   CC=clang        another compiler
#   WERROR=1        warnings are errors (CI)

CC       ?= cc
AR       ?= ar
PREFIX   ?= /usr/local
BUILD    ?= release
B        := build/$(BUILD)
VERSION  := $(shell sed -n 's/^\#define VOUCH_VERSION "\(.*\)"/\1/p' include/vouch.h)

PKGS     := libpcre2-8 libutf8proc
CLI_PKGS := jansson
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) $(CLI_PKGS) 2>/dev/null)
LIBS     := $(shell pkg-config --libs $(PKGS) 2>/dev/null || echo -lpcre2-8 -lutf8proc) -lm
CLI_LIBS := $(shell pkg-config --libs $(CLI_PKGS) 2>/dev/null || echo -ljansson)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
        -Wmissing-prototypes -Wpointer-arith -Wvla -Wundef -Wcast-qual -Wwrite-strings
ifeq ($(WERROR),1)
WARN += -Werror
endif
# -ffp-contract=off: a fused multiply-add is written where one is meant, and nowhere else (law L1).
OPT      ?= -O2 -g
CFLAGS_ALL = -std=c11 $(OPT) $(WARN) -ffp-contract=off -fno-math-errno -fno-trapping-math -fPIC \
             -fvisibility=hidden -pthread -D_GNU_SOURCE -Iinclude -Isrc $(PKG_CFLAGS) $(SAN) $(CFLAGS)
LDFLAGS_ALL = -pthread $(SAN) $(LDFLAGS)

ARCH := $(shell $(CC) -dumpmachine | cut -d- -f1)
LIB_SRC := $(filter-out $(wildcard src/kernels/x86_*.c src/kernels/arm_*.c),$(wildcard src/*/*.c))
ifeq ($(ARCH),x86_64)
LIB_SRC += $(wildcard src/kernels/x86_*.c)
endif
CLI_SRC  := $(wildcard cli/*.c)
TEST_SUPPORT := $(wildcard tests/support/*.c)
TESTS    := $(patsubst tests/%.c,%,$(wildcard tests/test_*.c))
FUZZERS  := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
BENCHES  := $(patsubst bench/%.c,%,$(wildcard bench/*.c))
EXAMPLES := $(patsubst examples/%.c,%,$(wildcard examples/*.c))

LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(B)/%.o)
SUP_OBJ  := $(TEST_SUPPORT:%.c=$(B)/%.o)
LIB_A    := $(B)/libvouch.a
LIB_SO   := $(B)/libvouch.so.$(VERSION)

.PHONY: all lib cli help clean
.DEFAULT_GOAL := all

all: $(LIB_A) $(LIB_SO) $(B)/vouch $(EXAMPLES:%=$(B)/examples/%) ## library, command and examples

# One instruction set a file, its own flags for its own object.
$(B)/src/kernels/x86_avx2.o:       ISA := -mavx2 -mfma -mf16c
$(B)/src/kernels/x86_avx512.o:     ISA := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c -mprefer-vector-width=512
$(B)/src/kernels/x86_avx512vnni.o: ISA := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mfma -mf16c -mprefer-vector-width=512
$(B)/src/kernels/%.o: OPT := $(subst -O2,-O3,$(OPT))

# Tests and benchmarks look inside; the command, the examples and the server see the public header only.
$(B)/cli/%.o $(B)/examples/%.o: CFLAGS_ALL := $(filter-out -Isrc,$(CFLAGS_ALL))
$(B)/tests/%.o $(B)/bench/%.o: CFLAGS_ALL += -Itests

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(ISA) -MMD -MP -c -o $@ $<

$(LIB_A): $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(LIB_SO): $(LIB_OBJ)
	$(CC) $(LDFLAGS_ALL) -shared -Wl,-soname,libvouch.so.0 -o $@ $^ $(LIBS)
	ln -sf $(@F) $(B)/libvouch.so.0
	ln -sf libvouch.so.0 $(B)/libvouch.so

$(B)/vouch: $(CLI_OBJ) $(LIB_A)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CLI_LIBS) $(LIBS)

$(B)/examples/%: $(B)/examples/%.o $(LIB_A)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

$(B)/bench/%: $(B)/bench/%.o $(SUP_OBJ) $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

$(B)/tests/%: $(B)/tests/%.o $(SUP_OBJ) $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) $(TEST_LDFLAGS_$*) -o $@ $^ -lcmocka $(CLI_LIBS) $(LIBS)

.SECONDARY:


-include $(shell find build/$(BUILD) -name '*.d' 2>/dev/null)

# ------------------------------------------------------------------ tests

.PHONY: check test tests
tests: all $(TESTS:%=$(B)/tests/%)

check: tests ## fast tests, under 30 s, no download: every commit
	@BUILD=$(BUILD) tests/run.sh check

test: tests ## everything the README promises, under 6 minutes
	@BUILD=$(BUILD) tests/run.sh test

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

clean: ## removes build/
	rm -rf build
