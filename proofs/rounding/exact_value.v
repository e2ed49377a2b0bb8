(* claim: rounding: values in integers, to every type
   source: exact/sincos.cpp
   formula: low = less(magnitude, error) ? Fraction<Limbs>{} : magnitude - error;
   formula: Fraction<Limbs> high = magnitude + error;
   formula: return {sign | nearest(magnitude), nearest(low) == nearest(high)};

   If both ends of an interval have the same nearest element, it is that of every value between
   them, wherever midpoints are rounded to. Their 64 leading bits, with others below them, round
   midpoints up. *)
From Coq Require Import ZArith Reals.
From Flocq Require Import Core.
Open Scope R_scope.

Section Value.
Variables least precision : Z.
Hypothesis positive : (0 < precision)%Z.
Variable up : Z -> bool. (* which midpoints are rounded up *)
Let nearest := round radix2 (FLT_exp least precision) (Znearest up).

Theorem exact_value low high y :
  low <= y <= high -> nearest low = nearest high -> nearest y = nearest low.
Proof.
  intros [L H] same.
  assert (V : Valid_exp (FLT_exp least precision)) by (apply FLT_exp_valid; exact positive).
  apply Rle_antisym; [rewrite same|]; apply round_le; auto; apply valid_rnd_N.
Qed.
End Value.
