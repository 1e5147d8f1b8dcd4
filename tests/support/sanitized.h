/* SPDX-License-Identifier: MIT */
/* TEST_SANITIZED is 1 in builds with AddressSanitizer, ThreadSanitizer or MemorySanitizer. They replace malloc and make
 * programs 10 to 50 times slower. A sanitizer finds no wrong bits, so sweeps that look for wrong bits may be shorter
 * under it. */
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
