(* claim: anchors: angle near quarter turns, absolute part of its error
   constant: RotationError.truncation / 2^-70
   unit: 2^-70
   bound: 0.55
   modes: fused
   source: simd/anchors-inl.h
   formula: const F64 biased = fused(position, quarter_turns, to_integer);
   formula: const F64 distance = fused_minus(position, quarter_turns, biased - to_integer);
   formula: const F64 lacking = fused(distance, F64(quarter_rest), position * rest);
   formula: fused(distance, F64(quarter), lacking)};

   Below position 2^32, where angle_short.gappa does not apply: the distance, in quarter turns, is
   below 2^-11. The two doubles that stand for a frequency lack at most 2^-104.1 of it. *)
From Coq Require Import Reals Lra Psatz.
From Interval Require Import Tactic.
From Lemmas Require Import angles.
Open Scope R_scope.

Section Angle.
Let u := 0x1p-53.
Let quarter := @{double("quarter")}.
Let quarter_rest := @{double("quarter_rest")}.
Variables distance position_rest lacks : R. (* exact *)
Variables d y lacking x : R. (* rounded, each by at most u of the result or the exact value *)
Hypothesis near : 0 <= distance <= 0x1p-11.
Hypothesis rest : Rabs position_rest <= 0x1p-20 * 0.786. (* 2^-20.347 *)
Hypothesis doubles : Rabs lacks <= 0x1p-72 * 0.934. (* 2^-72.098 *)
Hypothesis d_near : Rabs (d - distance) <= u * Rabs distance.
Hypothesis y_near : Rabs (y - position_rest) <= u * Rabs position_rest.
Hypothesis lacking_near :
  Rabs (lacking - (d * quarter_rest + y)) <= u * Rabs (d * quarter_rest + y).
Hypothesis x_near : Rabs (x - (d * quarter + lacking)) <= u * Rabs x.

Theorem angle :
  Rabs (x - (distance * (PI / 2) + position_rest + lacks)) <= 2 * u * Rabs x + @{bound} * 0x1p-70.
Proof.
  assert (P : Rabs (quarter + quarter_rest - PI / 2) <= 0x1p-105)
    by (unfold quarter, quarter_rest; interval with (i_prec 150)).
  rewrite (Rabs_right distance) in d_near by lra.
  assert (Y : Rabs (y - position_rest) <= u * (0x1p-20 * 0.786)) by (unfold u in *; lra).
  apply parts in P, d_near, rest, doubles, Y.
  assert (L : Rabs (d * quarter_rest + y) <= 0x1p-20 * 0.787)
    by (apply Rabs_le; unfold quarter_rest, u in *; lra).
  assert (L2 : Rabs (lacking - (d * quarter_rest + y)) <= u * (0x1p-20 * 0.787))
    by (unfold u in *; lra).
  apply parts in x_near, L2, L.
  assert (X := Rle_abs x). assert (X2 := Rle_abs (- x)). rewrite Rabs_Ropp in X2.
  assert (D : -0x1p-105 * 0x1p-11 <= distance * (quarter + quarter_rest - PI / 2)
      <= 0x1p-105 * 0x1p-11) by nra.
  apply Rabs_le. unfold quarter, quarter_rest, u in *. lra.
Qed.
End Angle.
