#ifndef TESSERA_VERIFY_H
#define TESSERA_VERIFY_H

/*
 * The verifier for programs in C, and in whatever calls C.
 *
 *   tessera_result* result = NULL;
 *   if (tessera_verify_files(key, key_size, proof, proof_size, NULL, &result) == TESSERA_ACCEPTED) {
 *     puts(tessera_result_generated_text(result, NULL));
 *   }
 *   tessera_result_free(result);
 *
 * An accepted proof speaks of the model that the key commits to: compare tessera_result_key_digest() with the digest of
 * the key that you trust, unless the key's bytes come from where you trust them.
 *
 * No function ends the process, or throws, for any bytes that it is given; a NULL or a size of zero where there must be
 * something is answered with TESSERA_UNUSABLE. Nothing that is passed in is changed or kept.
 */

/* NOLINTBEGIN(modernize-deprecated-headers,modernize-use-using): this is C */
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The verdict; the same numbers as the exit codes of tessera-verify. */
typedef enum tessera_verdict {
  TESSERA_ACCEPTED = 0, /**< After the prompt, the key's model generates these tokens first. */
  TESSERA_REJECTED = 1, /**< The proof is false, malformed, another key's or not the next part. */
  TESSERA_UNUSABLE = 2, /**< Bytes that are no key or no proof file, or an argument that is missing. */
  TESSERA_FAILED = 3    /**< Nothing is known of the proof: no memory, no process to read in. */
} tessera_verdict;

/** What a part of a conversation leaves for the next one. */
typedef struct tessera_state {
  uint8_t root[32];    /**< Of the commitment to keys and values. */
  uint64_t length;     /**< Positions in it; 0: nothing is left, and no part can follow. */
  uint32_t last_token; /**< The token generated last, whose keys and values are not in it. */
} tessera_state;

/** How the generated tokens are drawn: the integers of a proof file (statement/sampling/...). */
typedef struct tessera_sampling {
  uint32_t inverse_temperature; /**< round(4096/temperature). */
  uint32_t top_k;               /**< Candidates of a row; 0: the whole vocabulary, top_p then 2^16. */
  uint32_t top_p;               /**< round(65536*top_p); 65536 leaves nothing out. */
  uint32_t cutoff;              /**< floor(-4096*ln(min_p)); 65300 leaves nothing out. */
  uint8_t seed[32];             /**< Of the public numbers that choose. */
} tessera_sampling;

/** A statement whose parts the caller has: the model continues `prompt` by `generated`. */
typedef struct tessera_statement {
  const uint32_t* prompt;     /**< Token ids, at most 4096; none only in a continuation. */
  size_t prompt_count;        /**< */
  const uint32_t* generated;  /**< Token ids, 1 to 4096. */
  size_t generated_count;     /**< */
  const tessera_state* start; /**< Where the proof says that it starts; NULL: a beginning. */
  int keeps;                  /**< Not zero: the payload names a state to continue from. */
  uint32_t pass_length;       /**< Rows of a pass, as the proof file has it; 0 where it has none. */
} tessera_statement;

/* A statement that is sampled is verified by tessera_verify_sampled_parts(): the fields above are those of older
 * programs. */

/** What the verifier found out. */
typedef struct tessera_result tessera_result;

/**
 * Verifies a proof from the bytes of two files, as `tessera commit` and `tessera prove` write them.
 *
 * The files are HDF5, which strangers may have made: each is read in a child process that is bounded in time and memory
 * and confined by seccomp. So this function forks, twice, and waits for its children; in a program with several threads
 * no other thread may be inside the HDF5 or OpenSSL libraries meanwhile. Where a process cannot be confined, nothing is
 * read: TESSERA_FAILED. tessera_verify_parts() does none of this.
 *
 * @param before  NULL, or of a conversation's second and later parts what tessera_result_kept() has given of the part
 *                before. A part that does not start exactly there is rejected, and so is any after one that keeps
 * nothing.
 * @param result  NULL, or where the result goes, to be freed; NULL is stored if there was no memory for it.
 */
TESSERA_API tessera_verdict tessera_verify_files(const void* key, size_t key_size, const void* proof, size_t proof_size,
                                                 const tessera_state* before, tessera_result** result);

/**
 * The same from parts that are no longer HDF5: `key` is the key's canonical byte string (dataset `key` of a key file),
 * the statement and the payload are those of a proof file. Does not fork. From several threads at a time, too.
 */
TESSERA_API tessera_verdict tessera_verify_parts(const void* key, size_t key_size, const tessera_statement* statement,
                                                 const void* payload, size_t payload_size, const tessera_state* before,
                                                 tessera_result** result);

/** Bytes that the caller has. */
typedef struct tessera_bytes {
  const void* data; /**< */
  size_t size;      /**< */
} tessera_bytes;

/** The same of a statement whose tokens are drawn as `sampling` says; NULL: tessera_verify_parts(). */
TESSERA_API tessera_verdict tessera_verify_sampled_parts(tessera_bytes key, const tessera_statement* statement,
                                                         const tessera_sampling* sampling, tessera_bytes payload,
                                                         const tessera_state* before, tessera_result** result);

/* What is pointed to lives until the result is freed. Of a NULL result there is nothing: "", 0, NULL; the verdict is
 * TESSERA_FAILED. Counts and sizes may be NULL. */

/** What the call has returned. */
TESSERA_API tessera_verdict tessera_result_verdict(const tessera_result* result);
/** Where the proof is rejected, such as "/statement"; "" if it is not. */
TESSERA_API const char* tessera_result_scope(const tessera_result* result);
/** Why it is not accepted: one line; "" if it is. */
TESSERA_API const char* tessera_result_reason(const tessera_result* result);
/** Token ids of the statement, also of a rejected one; NULL and 0 where none could be read. */
TESSERA_API const uint32_t* tessera_result_prompt(const tessera_result* result, size_t* count);
TESSERA_API const uint32_t* tessera_result_generated(const tessera_result* result, size_t* count);
/** How the statement's tokens are drawn, also of a rejected one; NULL: each is the arg-max, or none could be read. Who
 * does not expect just that, and chose the seed, has no proof of how likely the text was. */
TESSERA_API const tessera_sampling* tessera_result_sampling(const tessera_result* result);
/** What these ids decode to by the key's vocabulary: any bytes, followed by a NUL that `size` does not count. NULL and
 * 0 where an id is none of the key's, and of a file that was made for another key. A prompt's text says nothing of how
 * it was split into ids. */
TESSERA_API const char* tessera_result_prompt_text(const tessera_result* result, size_t* size);
TESSERA_API const char* tessera_result_generated_text(const tessera_result* result, size_t* size);
/** BLAKE2s-256 of the key's canonical bytes, 32 of them; NULL if the key was not usable. */
TESSERA_API const uint8_t* tessera_result_key_digest(const tessera_result* result);
/** -log2 of the error of the worst round of this proof's protocol; 0 unless accepted. */
TESSERA_API double tessera_result_soundness_least(const tessera_result* result);
/** -log2 of the sum of all rounds' errors; 0 unless accepted. */
TESSERA_API double tessera_result_soundness_sum(const tessera_result* result);
/** Where the next part of the conversation starts, to be passed on as `before`. Never NULL: where the proof is not
 * accepted, or keeps nothing, its length is 0, and whatever is verified after it is rejected. */
TESSERA_API const tessera_state* tessera_result_kept(const tessera_result* result);
/** Values of one kind that left their range in an accepted proof's statement and were cut to its limits. */
typedef struct tessera_clamped {
  const char* tensor; /**< Such as "x_mid"; lives as long as the result. */
  uint64_t values;    /**< How many of it. */
} tessera_clamped;
/** Those kinds that there are; NULL and 0 where nothing was clamped, or the proof is not accepted. */
TESSERA_API const tessera_clamped* tessera_result_clamped(const tessera_result* result, size_t* count);
/** The last token of an accepted proof, if it is one after which the key's model says no more: then the text is
 * complete. NULL where it is cut off, so that the model may go on, or the proof is not accepted. */
TESSERA_API const uint32_t* tessera_result_ended_by(const tessera_result* result);
/** NULL is allowed. */
TESSERA_API void tessera_result_free(tessera_result* result);

/** The release of the library, such as "0.1.0". */
TESSERA_API const char* tessera_version(void);
/** The version of the files and proofs that it reads; it reads no other. */
TESSERA_API uint32_t tessera_format_version(void);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-deprecated-headers,modernize-use-using) */

#endif
