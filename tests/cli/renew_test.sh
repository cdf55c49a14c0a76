#!/usr/bin/env bash
# Renewals of hiding keys: made, verified, chained; what is no renewal.
source "$(dirname "$0")/common.sh"
tessera import --quiet --checkpoint "$odd" --out model.h5 >/dev/null || fail "import"
head -c 32 /dev/urandom >given && chmod 600 given

commit() { tessera commit --quiet --hiding --proofs "$1" --model model.h5 --out "$2" "${@:3}"; }
renew() { tessera renew --quiet --model model.h5 --commitment "$1" --renewed "$2" --out "$3"; }
left() { tessera inspect "$1" | sed -n 's/^proofs .* begun, \([0-9]*\) left$/\1/p'; }
digest_of() { tessera inspect "$1" | sed -n 's/^key digest *//p'; }

expect 0 'key digest' commit 2 first --secret given
expect 0 'key digest' commit 60 second --compact
expect 0 'key digest' commit 9 third
expect 0 "renewed digest  $(digest_of second)" renew first second one.h5
expect_same "$(left first) $(left second)" "1 59" "a use of each"
expect 0 'renewed digest' ranks 3 tessera renew --quiet --model model.h5 --commitment second --renewed third --out two.h5
expect 0 'The old' tessera prove --quiet --model model.h5 --commitment second --prompt "The old" --generate 3 --out second.h5
expect 0 'The old' tessera prove --quiet --model model.h5 --commitment third --prompt "The old" --generate 3 --out third.h5

# one renewal, a chain, and a proof behind it
expect 0 "renewed to $(digest_of second) by one.h5" verify --key first/verifying.key --renewal one.h5
expect 0 ACCEPTED verify --key first/verifying.key --renewal one.h5
expect 0 ACCEPTED verify --key first/verifying.key --expect-key "$(digest_of first)" --renewal one.h5 second.h5
expect 0 ACCEPTED verify --key first/verifying.key --renewal one.h5 --renewal two.h5 third.h5
expect 0 '1 accepted' verify --key first/verifying.key --renewal one.h5 --each second.h5
expect 0 "$(digest_of second)" verify --json --key first/verifying.key --renewal one.h5 second.h5
expect 0 '"verdict": "accepted"' verify --json --key first/verifying.key --renewal one.h5

# false and misplaced ones
expect 1 'REJECTED at /statement: renewal two.h5: it renews another key' verify --key first/verifying.key --renewal two.h5
expect 1 'REJECTED' verify --key first/verifying.key --renewal two.h5 --renewal one.h5 third.h5
expect 1 'REJECTED' verify --key first/verifying.key --renewal one.h5 third.h5
expect 1 '"verdict": "rejected"' verify --json --key first/verifying.key --renewal two.h5 third.h5
expect 2 'proof' verify --key first/verifying.key
expect_error 2 'tessera renewal' verify --key first/verifying.key --renewal second.h5
expect_error 2 'tessera proof' verify --key first/verifying.key one.h5
head -c 3000 one.h5 >cut.h5
expect_error 2 'cut.h5' verify --key first/verifying.key --renewal cut.h5
expect_error 2 'absent.h5' verify --key first/verifying.key --renewal absent.h5
expect 0 'tessera renewal' tessera inspect one.h5

# what cannot be renewed, and takes no use
refused() {
  expect_error 2 "$1" renew "${@:2}" bad.h5
  expect_absent bad.h5
}
expect 0 'key digest' tessera commit --quiet --model model.h5 --out plain
expect 0 'key digest' commit 3 alike --secret given
refused 'plain: expected a hiding commitment' plain third
refused 'plain: expected a hiding commitment' third plain
refused 'alike/secret: expected another secret' first alike
refused 'same parameter root|another secret' first first
expect_same "$(left first) $(left alike)" "1 3" "refused jobs take no use"
expect 0 'renewed digest' renew first third last.h5
refused 'first/uses: used: .*all begun' first second
expect_same "$(left second)" 57 "the other commitment keeps its uses"
head -c 32 /dev/urandom >third/secret # of another commitment: what is opened is not what was committed
expect 3 'rejected' renew second third bad.h5
expect_absent bad.h5
finish
