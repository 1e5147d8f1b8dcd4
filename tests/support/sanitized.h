/* SPDX-License-Identifier: MIT */
/* Whether a sanitizer with a malloc of its own is built in. Programs are then 10 to 50 times slower, too:
 * sweeps that look for wrong bits, which a sanitizer doesn't see, may do less. */
#ifndef VOUCH_TESTS_SANITIZED_H
#define VOUCH_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif

#endif
