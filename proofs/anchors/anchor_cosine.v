(* claim: anchors: a cosine
   constant: RotationError.anchor_cosine
   unit: 2^-53
   bound: 1.91
   modes: fused unfused
   source: simd/anchors-inl.h
   formula: cosine[i] = fused(fused(cosine[i], square[i], F64(-1.0 / 2.0)), square[i], F64(1.0));
   formula: sine[i] = fused(sine[i] * square[i], x[i], x[i]);

   What angle_*.gappa, *_evaluation.gappa and *_polynomial.sollya show adds up to this. t is the
   absolute error of the angle, which is counted as truncation. After an odd number of quarter
   turns, a cosine is computed as a sine, whose error is below the same bound. *)
From Coq Require Import Reals Lra Psatz.
From Interval Require Import Tactic.
From Lemmas Require Import angles.
Open Scope R_scope.

Section Anchor.
Variables angle x t : R. (* before it is rounded, after it, and absolute *)
Let u := 0x1p-53.
Hypothesis range : 0 <= x <= 0.7854001.
Hypothesis absolute : 0 <= t <= 0x1p-60.
Hypothesis near : Rabs (x - angle) <= @{"0.905" if fused else "1"} * u + t.

Lemma middle : -0.0001 <= (x + angle) / 2 <= 0.7855.
Proof. apply parts in near. unfold u in *. lra. Qed.

(* 1 + polynomial is near cos(x); rest is the polynomial as it is computed. *)
Theorem cosine polynomial rest value :
  Rabs (1 + polynomial - cos x) <= @{proven("cosine_polynomial")} * u ->
  Rabs (rest - polynomial) <= @{proven("cosine_evaluation")} * u ->
  Rabs (value - (1 + rest)) <= 1/2 * u -> (* below 1, where doubles are u apart *)
  Rabs (value - cos angle) <= @{bound} * u + t.
Proof.
  intros P E R. pose proof (cosine_difference x angle) as C. pose proof middle as M.
  set (y := (x + angle) / 2) in *.
  assert (S : Rabs (sin y) <= 0.7074) by (apply Rabs_le; split; interval with (i_bisect y)).
  assert (0 <= Rabs (sin y)) by apply Rabs_pos.
  assert (D : Rabs (cos x - cos angle) <= 0.7074 * (@{"0.905" if fused else "1"} * u + t))
    by (assert (0 <= Rabs (x - angle)) by apply Rabs_pos; nra).
  apply parts in P, E, R, D. apply Rabs_le. unfold u in *. lra.
Qed.

(* x + polynomial is near sin(x); rest is the polynomial as it is computed. *)
Theorem sine polynomial rest value :
  Rabs (x + polynomial - sin x) <= @{proven("sine_series")} * u * x^3 ->
  Rabs (rest - polynomial) <= @{proven("sine_evaluation")} * u * Rabs polynomial ->
  Rabs (value - (x + rest)) <= 1/2 * u ->
  Rabs (value - sin angle) <= @{bound} * u + t.
Proof.
  intros P E R. pose proof (sine_difference x angle) as C.
  assert (K : Rabs (cos ((x + angle) / 2)) <= 1)
    by (pose proof (COS_bound ((x + angle) / 2)); apply Rabs_le; lra).
  assert (0 <= Rabs (cos ((x + angle) / 2))) by apply Rabs_pos.
  assert (D : Rabs (sin x - sin angle) <= @{"0.905" if fused else "1"} * u + t)
    by (assert (0 <= Rabs (x - angle)) by apply Rabs_pos; nra).
  assert (X : 0 <= x^3 <= 0.4846) by (split; interval with (i_bisect x)).
  assert (L : x - x^3 / 6 <= sin x) by (apply sine_low; lra).
  assert (U : sin x <= x) by (apply sine_high; lra).
  apply parts in P, R, D.
  assert (Q : Rabs polynomial <= 0.0809) by (apply Rabs_le; unfold u in *; split; nra).
  assert (F : Rabs (rest - polynomial) <= @{proven("sine_evaluation")} * u * 0.0809)
    by (eapply Rle_trans; [exact E|]; apply Rmult_le_compat_l; [unfold u; lra | exact Q]).
  apply parts in F. apply Rabs_le. unfold u in *. split; nra.
Qed.
End Anchor.
