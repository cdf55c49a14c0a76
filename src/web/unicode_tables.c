/// \file
/// Prints what the verifier asks of Unicode, packed as unicode_data.c has it: general categories, default-ignorable
/// characters, decomposition and composition. Without case, width and borders most entries of the tables are the same.
/// Includes utf8proc.c for the tables, which it keeps to itself.

#include "utf8proc.c"
#include "unicode_packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { code_points = 0x110000, block_size = 0x100, blocks = code_points / block_size };

static struct packed_property properties[0x10000];
static unsigned property_count;
static utf8proc_uint16_t sequences[0x4000];  // as far as an entry's 14 bits reach
static unsigned sequence_size;
static utf8proc_uint16_t stage1[blocks];
static utf8proc_uint16_t stage2[0x10000];
static unsigned stage2_size;

static void check(utf8proc_bool good, const char* what) {
  if (!good) {
    fprintf(stderr, "unicode_tables: %s\n", what);
    exit(1);
  }
}

/// Words that utf8proc's decoding of the sequence at `index` reads: a length that does not fit in the index's upper two
/// bits, then as many characters and one, of one or two words.
static unsigned words_of(utf8proc_uint16_t index) {
  const utf8proc_uint16_t* const begin = &utf8proc_sequences[index & 0x3FFF];
  const utf8proc_uint16_t* end = begin;
  int length = index >> 14;
  if (length >= 3) {
    length = *end++;
  }
  for (; length >= 0; ++end, --length) {
    seqindex_decode_entry(&end);
  }
  return (unsigned)(end - begin);
}

/// The sequence is copied.
static utf8proc_uint16_t copied_sequence(utf8proc_uint16_t index) {
  const unsigned words = words_of(index);
  const unsigned at = sequence_size;
  check(at + words <= sizeof sequences / sizeof *sequences, "too many decompositions");
  memcpy(sequences + at, &utf8proc_sequences[index & 0x3FFF], words * sizeof *sequences);
  sequence_size += words;
  return (utf8proc_uint16_t)((index & 0xC000) | at);
}

static struct packed_property reduced(const utf8proc_property_t* from) {
  const struct packed_property to = {
      .decomposition = from->decomp_seqindex,
      .combination = from->comb_index,
      .category = (utf8proc_uint8_t)from->category,
      .combining_class = (utf8proc_uint8_t)from->combining_class,
      .excluded = from->comp_exclusion,
      .forms =
          (utf8proc_uint8_t)((from->ignorable ? ignorable_form : 0) | (from->decomp_type != 0 ? compatible_form : 0)),
  };
  check(to.category == from->category && to.combining_class == from->combining_class, "a class above 255");
  return to;
}

static utf8proc_uint16_t property_index(const struct packed_property* property) {
  unsigned i = 0;
  while (i < property_count && memcmp(&properties[i], property, sizeof *property) != 0) {
    ++i;
  }
  if (i == property_count) {
    check(i < sizeof properties / sizeof *properties, "too many properties");
    properties[property_count++] = *property;
  }
  return (utf8proc_uint16_t)i;
}

static void add_block(unsigned block) {
  utf8proc_uint16_t entries[block_size];
  for (unsigned i = 0; i < block_size; ++i) {
    const struct packed_property property = reduced(unsafe_get_property((utf8proc_int32_t)(block * block_size + i)));
    entries[i] = property_index(&property);
  }
  // where the entries stand already, or as many of the first as stand at the end
  unsigned at = 0;
  unsigned common = 0;
  for (;; ++at) {
    common = stage2_size - at < block_size ? stage2_size - at : block_size;
    if (memcmp(stage2 + at, entries, common * sizeof *entries) == 0) {
      break;
    }
  }
  check(at + block_size <= sizeof stage2 / sizeof *stage2, "too many blocks");
  memcpy(stage2 + at, entries, sizeof entries);
  stage2_size += block_size - common;
  stage1[block] = (utf8proc_uint16_t)at;
}

static void print_numbers(const char* name, const utf8proc_uint16_t* numbers, unsigned count) {
  printf("static const utf8proc_uint16_t utf8proc_%s[] = {", name);
  for (unsigned i = 0; i < count; ++i) {
    printf("%s%u,", i % 16 == 0 ? "\n" : " ", numbers[i]);
  }
  printf("\n};\n");
}

/// Prints numbers as runs, from left to right, each as long as it can be.
static void print_runs(const char* name, const utf8proc_uint16_t* numbers, unsigned count) {
  printf("enum { %s_size = %u };\nstatic const struct run %s_runs[] = {\n", name, count, name);
  for (unsigned begin = 0; begin < count;) {
    unsigned ends[2] = {begin + 1, begin + 1};  // by step
    for (unsigned step = 0; step < 2; ++step) {
      while (ends[step] < count && ends[step] - begin < max_run &&
             numbers[ends[step]] == numbers[ends[step] - 1] + step) {
        ++ends[step];
      }
    }
    const unsigned step = ends[1] > ends[0];
    printf("{%u, %u, %u},\n", numbers[begin], ends[step] - begin, step);
    begin = ends[step];
  }
  printf("};\n");
}

static void print_properties(void) {
  printf("static const struct packed_property packed_properties[] = {\n");
  for (unsigned i = 0; i < property_count; ++i) {
    const struct packed_property* const p = &properties[i];
    const unsigned sequence = p->decomposition == UINT16_MAX ? UINT16_MAX : copied_sequence(p->decomposition);
    printf("{%u, %u, %u, %u, %u, %u},\n", sequence, p->combination, p->category, p->combining_class, p->excluded,
           p->forms);
  }
  printf("};\n");
}

int main(void) {
  const struct packed_property unassigned = reduced(&utf8proc_properties[0]);  // stays the first: for no code point
  property_index(&unassigned);
  for (unsigned block = 0; block < blocks; ++block) {
    add_block(block);
  }
  print_runs("stage1", stage1, blocks);
  print_runs("stage2", stage2, stage2_size);
  print_properties();
  print_numbers("sequences", sequences, sequence_size);
  print_numbers("combinations", utf8proc_combinations, sizeof utf8proc_combinations / sizeof *utf8proc_combinations);
  check(!ferror(stdout), "cannot write");
  return 0;
}
