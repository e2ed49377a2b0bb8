(* claim: anchors: a sine, relative to its value
   constant: RotationError.anchor_sine
   unit: 2^-53
   bound: 3
   modes: fused
   source: simd/anchors-inl.h
   formula: sine[i] = fused(sine[i] * square[i], x[i], x[i]);

   What angle_*.gappa, sine_evaluation.gappa and sine_series.v show adds up to this. t is the
   absolute error of the angle, which is counted as truncation, as is 2^-94. *)
From Coq Require Import Reals Lra Psatz.
From Interval Require Import Tactic.
From Lemmas Require Import angles sine.
Open Scope R_scope.

Section Anchor.
Variables angle x t polynomial rest value : R.
Let u := 0x1p-53.
Let r := @{proven("sine_evaluation")}.
Hypothesis range : 0 <= x <= 0.7854001.
Hypothesis absolute : 0 <= t <= 0x1p-60.
Hypothesis series : Rabs (x + polynomial - sin x) <= @{proven("sine_series")} * u * x^3.
Hypothesis evaluation : Rabs (rest - polynomial) <= r * u * Rabs polynomial.
(* Each operation rounds by at most u, relatively. *)
Hypothesis last : Rabs (value - (x + rest)) <= u * Rabs (x + rest).

Lemma last_units : Rabs (value - (x + rest)) <= (sin x + 0x1p-50) * u.
Proof.
  pose proof (sum x polynomial rest r) as S.
  specialize (S ltac:(unfold r; lra) range series evaluation).
  assert (X : 0 <= x^3 <= 1) by (split; interval).
  assert (0 <= sin x) by (apply sin_ge_0; interval_intro PI; lra).
  apply parts in S. assert (A : Rabs (x + rest) <= sin x + 0x1p-50)
    by (unfold r in *; apply Rabs_le; split; nra).
  unfold u in *. lra.
Qed.

(* `sum` is the angle of the two doubles that stand for a frequency. *)
Theorem sine sum :
  Rabs (x - sum) <= @{proven("angle_short")} * u * Rabs sum -> Rabs (sum - angle) <= t ->
  Rabs (value - sin angle) <= @{bound} * u * Rabs (sin angle) + 1.001 * t + 0x1p-94.
Proof.
  intros N M.
  apply (added angle x t polynomial rest value r) with (off := 1.85 * x) (last := sin x + 0x1p-50);
    try assumption; try (unfold r; lra).
  - assert (0 <= sin x) by (apply sin_ge_0; interval_intro PI; lra). lra.
  - assert (A : Rabs sum <= x + Rabs (x - sum)).
    { replace sum with (x - (x - sum)) at 1 by lra.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp, (Rabs_right x); lra. }
    assert (B : Rabs (x - sum) <= 1.85 * x * u) by (unfold u in *; lra).
    replace (x - angle) with ((x - sum) + (sum - angle)) by lra.
    eapply Rle_trans; [apply Rabs_triang|]. unfold u in *. lra.
  - apply last_units.
  - pose proof (cosine_high x ltac:(lra)). pose proof (sine_low x ltac:(lra)).
    assert (0 <= x^2 <= 0.617) by nra. unfold r. nra.
Qed.

(* Near a whole number of quarter turns. *)
Theorem sine_of_small_angle :
  x <= 0x1p-11 -> Rabs (x - angle) <= 2 * u * x + t ->
  Rabs (value - sin angle) <= @{bound} * u * Rabs (sin angle) + 1.001 * t + 0x1p-94.
Proof.
  intros B N.
  apply (added angle x t polynomial rest value r) with (off := 2 * x) (last := sin x + 0x1p-50);
    try assumption; try (unfold r; lra).
  - assert (0 <= sin x) by (apply sin_ge_0; interval_intro PI; lra). lra.
  - unfold u in *. lra.
  - apply last_units.
  - pose proof (cosine_high x ltac:(lra)). pose proof (sine_low x ltac:(lra)).
    assert (0 <= x^3 <= 0x1p-32) by (split; interval). unfold r.
    assert (0 <= x^2 <= 0x1p-21) by (split; interval). nra.
Qed.
End Anchor.
