(* claim: anchors: a sine, relative to its value
   constant: RotationError.anchor_sine
   unit: 2^-53
   bound: 3
   modes: unfused
   source: simd/anchors-inl.h
   formula: sine[i] = fused(sine[i] * square[i], x[i], x[i]);

   What angle_long.gappa, sine_evaluation.gappa and sine_series.v show adds up to this. The angle is
   off by 2 P units, where P is a power of two that does not exceed it, and the last operation by p
   units, where p is a power of two that does not exceed its result. t is the absolute error of the
   angle, which is counted as truncation, as is 2^-94. *)
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
Variables P p : R. (* powers of two *)
Hypothesis of_angle : 0 < P <= x * (1 + 0x1p-29).
Hypothesis of_result : 0 < p <= Rabs (x + rest).
Hypothesis powers : P <= p \/ 2 * p <= P.

Theorem sine :
  Rabs (x - angle) <= 2 * P * u + t -> Rabs (value - (x + rest)) <= p * u ->
  Rabs (value - sin angle) <= @{bound} * u * Rabs (sin angle) + 1.001 * t + 0x1p-94.
Proof.
  intros N L.
  pose proof (sum x polynomial rest r) as S.
  specialize (S ltac:(unfold r; lra) range series evaluation).
  pose proof (cosine_high x ltac:(lra)) as C. pose proof (sine_low x ltac:(lra)) as I.
  assert (C0 : 0 <= cos x <= 1).
  { split; [apply cos_ge_0; interval_intro PI; lra | pose proof (COS_bound x); lra]. }
  assert (X2 : 0 <= x^2 <= 0.617) by nra.
  assert (X3 : 0 <= x^3 <= 0.5) by (split; interval with (i_bisect x)).
  assert (S0 : 0 <= sin x) by (apply sin_ge_0; interval_intro PI; lra).
  apply parts in S.
  assert (A : p <= sin x + 0x1p-50).
  { apply Rle_trans with (1 := proj2 of_result). unfold r, u in *. apply Rabs_le. split; lra. }
  apply (added angle x t polynomial rest value r) with (off := 2 * P) (last := p);
    try assumption; try (unfold r; lra).
  destruct powers as [Q|Q].
  - (* P <= p: 2 sin(x) (1 - cos(x)) is more than the other errors. *)
    assert (T : (r / 6 + 0.1951) * x^3 <= 2 * sin x * (1 - cos x)).
    { assert (J : 2 * (x - x^3 / 6) * (x^2 / 2 - x^4 / 24) <= 2 * sin x * (1 - cos x))
        by (apply Rmult_le_compat; [|  | lra | lra]; nra).
      eapply Rle_trans; [|exact J].
      replace (2 * (x - x^3 / 6) * (x^2 / 2 - x^4 / 24))
        with (x^3 * ((1 - x^2 / 6) * (1 - x^2 / 12))) by field.
      unfold r. nra. }
    assert (2 * P * cos x + p <= (sin x + 0x1p-50) * (2 * cos x + 1)) by nra. nra.
  - (* The last operation adds at most half of P. *)
    assert (2 * P * cos x + p <= x * (1 + 0x1p-29) * (2 * cos x + 1/2)) by nra.
    unfold r. nra.
Qed.

(* Near a whole number of quarter turns. *)
Theorem sine_of_small_angle :
  x <= 0x1p-14 -> Rabs (x - angle) <= 2 * u * x + t ->
  Rabs (value - (x + rest)) <= u * (sin x + 0x1p-50) ->
  Rabs (value - sin angle) <= @{bound} * u * Rabs (sin angle) + 1.001 * t + 0x1p-94.
Proof.
  intros B N L.
  assert (S0 : 0 <= sin x) by (apply sin_ge_0; interval_intro PI; lra).
  apply (added angle x t polynomial rest value r) with (off := 2 * x) (last := sin x + 0x1p-50);
    try assumption; try (unfold r; lra); try (unfold u in *; lra).
  pose proof (cosine_high x ltac:(lra)). pose proof (sine_low x ltac:(lra)).
  assert (0 <= x^3 <= 0x1p-41) by (split; interval). unfold r.
  assert (0 <= x^2 <= 0x1p-27) by (split; interval). nra.
Qed.
End Anchor.
