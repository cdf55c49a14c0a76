#pragma once

/// \file
/// Tables of utf8proc as the module holds them. Included behind utf8proc.h.

enum { max_run = 0x7FFF };
/// Bits of what a character is: default-ignorable, or decomposed for compatibility only.
enum { ignorable_form = 1, compatible_form = 2 };

/// `count` numbers: first, first + step, first + 2 * step, ..
struct run {
  utf8proc_uint16_t first;
  utf8proc_uint16_t count : 15;
  utf8proc_uint16_t step : 1;
};

/// What is kept of utf8proc_property_t. Has no padding: properties are compared as bytes.
struct packed_property {
  utf8proc_uint16_t decomposition;  // decomp_seqindex
  utf8proc_uint16_t combination;    // comb_index
  utf8proc_uint8_t category;
  utf8proc_uint8_t combining_class;
  utf8proc_uint8_t excluded;  // comp_exclusion
  utf8proc_uint8_t forms;     // ignorable_form and compatible_form
};
