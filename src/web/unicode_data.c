/// \file
/// Stands for utf8proc_data.c, which utf8proc.c includes: the tables, packed by unicode_tables.c, are a sixth of what
/// they are in memory. They are unpacked when the module is loaded.

#include "unicode_packed.h"
#include "unicode_packed_tables.h"

static utf8proc_uint16_t utf8proc_stage1table[stage1_size];
static utf8proc_uint16_t utf8proc_stage2table[stage2_size];
static utf8proc_property_t utf8proc_properties[sizeof packed_properties / sizeof *packed_properties];

static void unpack_runs(const struct run* run, utf8proc_uint16_t* numbers, const utf8proc_uint16_t* end) {
  for (; numbers < end; ++run) {
    for (unsigned i = 0; i < run->count; ++i) {
      *numbers++ = (utf8proc_uint16_t)(run->first + i * run->step);
    }
  }
}

__attribute__((constructor)) static void unpack_tables(void) {
  unpack_runs(stage1_runs, utf8proc_stage1table, utf8proc_stage1table + stage1_size);
  unpack_runs(stage2_runs, utf8proc_stage2table, utf8proc_stage2table + stage2_size);
  for (unsigned i = 0; i < sizeof packed_properties / sizeof *packed_properties; ++i) {
    const struct packed_property* const from = &packed_properties[i];
    utf8proc_properties[i] = (utf8proc_property_t){
        .category = from->category,
        .combining_class = from->combining_class,
        .decomp_type = (from->forms & compatible_form) != 0 ? UTF8PROC_DECOMP_TYPE_COMPAT : 0,
        .decomp_seqindex = from->decomposition,
        .casefold_seqindex = UINT16_MAX,
        .uppercase_seqindex = UINT16_MAX,
        .lowercase_seqindex = UINT16_MAX,
        .titlecase_seqindex = UINT16_MAX,
        .comb_index = from->combination,
        .comp_exclusion = from->excluded,
        .ignorable = (from->forms & ignorable_form) != 0,
    };
  }
}
