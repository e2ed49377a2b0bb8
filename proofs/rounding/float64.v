(* claim: rounding: float64, bounds that round alike
   source: simd/rotation/rotation_to_float64-inl.h
   formula: value(high + least),
   formula: uncertain(cast_bits<U64>(value) ^ cast_bits<U64>(high + most)) {}

   The exact value lies between both sums before they are rounded. Rounding to nearest is
   monotonic, so that it rounds to what both round to. *)
From Coq Require Import Reals ZArith Lra.
From Flocq Require Import Core.
Open Scope R_scope.

Definition to_double := round radix2 (FLT_exp (-1074) 53) ZnearestE.

Theorem float64 high least most y :
  high + least <= y <= high + most ->
  to_double (high + least) = to_double (high + most) -> to_double y = to_double (high + least).
Proof.
  intros [L M] E. apply Rle_antisym.
  - rewrite E. now apply round_le; [apply FLT_exp_valid | apply valid_rnd_N |].
  - now apply round_le; [apply FLT_exp_valid | apply valid_rnd_N |].
Qed.
