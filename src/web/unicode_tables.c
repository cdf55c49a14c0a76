/// \file
/// Prints utf8proc_data.c anew with what the verifier asks of Unicode: general categories, default-ignorable characters
/// and canonical composition. Without case, width, borders and compatibility forms most entries of the tables are the
/// same. Includes utf8proc.c for the tables, which it keeps to itself.

#include "utf8proc.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { code_points = 0x110000, block_size = 0x100, blocks = code_points / block_size };

static utf8proc_property_t properties[0x10000];
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

static utf8proc_property_t reduced(const utf8proc_property_t* from) {
  utf8proc_property_t to;
  memset(&to, 0, sizeof to);  // compared with its padding
  to.category = from->category;
  to.combining_class = from->combining_class;
  to.decomp_seqindex = from->decomp_type == 0 ? from->decomp_seqindex : UINT16_MAX;
  to.casefold_seqindex = to.uppercase_seqindex = to.lowercase_seqindex = to.titlecase_seqindex = UINT16_MAX;
  to.comb_index = from->comb_index;
  to.comp_exclusion = from->comp_exclusion;
  to.ignorable = from->ignorable;
  return to;
}

static utf8proc_uint16_t property_index(const utf8proc_property_t* property) {
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
    const utf8proc_property_t property = reduced(unsafe_get_property((utf8proc_int32_t)(block * block_size + i)));
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

static void print_properties(void) {
  printf("static const utf8proc_property_t utf8proc_properties[] = {\n");
  for (unsigned i = 0; i < property_count; ++i) {
    const utf8proc_property_t* const p = &properties[i];
    const unsigned sequence = p->decomp_seqindex == UINT16_MAX ? UINT16_MAX : copied_sequence(p->decomp_seqindex);
    printf(
        "{.category = %d, .combining_class = %d, .decomp_seqindex = %u, .comb_index = %u, .comp_exclusion = %d, "
        ".ignorable = %d, .casefold_seqindex = UINT16_MAX, .uppercase_seqindex = UINT16_MAX, "
        ".lowercase_seqindex = UINT16_MAX, .titlecase_seqindex = UINT16_MAX},\n",
        p->category, p->combining_class, sequence, p->comb_index, p->comp_exclusion, p->ignorable);
  }
  printf("};\n");
}

int main(void) {
  const utf8proc_property_t unassigned =
      reduced(&utf8proc_properties[0]);  // stays the first: for what is no code point
  property_index(&unassigned);
  for (unsigned block = 0; block < blocks; ++block) {
    add_block(block);
  }
  print_numbers("stage1table", stage1, blocks);
  print_numbers("stage2table", stage2, stage2_size);
  print_properties();
  print_numbers("sequences", sequences, sequence_size);
  print_numbers("combinations", utf8proc_combinations, sizeof utf8proc_combinations / sizeof *utf8proc_combinations);
  check(!ferror(stdout), "cannot write");
  return 0;
}
