#pragma once

// Included before every source that uses utf8proc: its tables lack what these names would tell (unicode_tables.c).

#include <utf8proc.h>

#pragma GCC poison utf8proc_tolower utf8proc_toupper utf8proc_totitle utf8proc_islower utf8proc_isupper
#pragma GCC poison utf8proc_charwidth utf8proc_grapheme_break utf8proc_grapheme_break_stateful
#pragma GCC poison utf8proc_map utf8proc_map_custom utf8proc_NFD utf8proc_NFKD utf8proc_NFKC utf8proc_NFKC_Casefold
#pragma GCC poison UTF8PROC_CASEFOLD UTF8PROC_CHARBOUND UTF8PROC_LUMP UTF8PROC_NLF2LF
#pragma GCC poison casefold_seqindex uppercase_seqindex lowercase_seqindex titlecase_seqindex
#pragma GCC poison bidi_class bidi_mirrored control_boundary charwidth boundclass
