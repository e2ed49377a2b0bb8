(* The error of a sine of an anchor, from those of its angle and its roundings. Of anchors of either
   kind of instruction sets, anchor_sine*.v show that this is at most 3 units. *)
From Coq Require Import Reals Lra Psatz.
From Interval Require Import Tactic.
From Lemmas Require Import angles.
Open Scope R_scope.

Section Anchor.
Variables angle x t : R. (* before it is rounded, after it, and the absolute error *)
Variables polynomial rest value : R.
Variable r : R. (* the relative error of rest, in units *)
Let u := 0x1p-53.
Hypothesis roundings : 0 <= r <= 4.
Hypothesis range : 0 <= x <= 0.7854001.
Hypothesis absolute : 0 <= t <= 0x1p-60.
Hypothesis series : Rabs (x + polynomial - sin x) <= 0.195 * u * x^3.
Hypothesis evaluation : Rabs (rest - polynomial) <= r * u * Rabs polynomial.

(* The roundings and the polynomial, before the last rounding. *)
Lemma sum : Rabs (x + rest - sin x) <= (r / 6 + 0.1951) * u * x^3.
Proof.
  assert (X : 0 <= x^3) by (apply pow_le; lra).
  assert (L : x - x^3 / 6 <= sin x) by (apply sine_low; lra).
  assert (U : sin x <= x) by (apply sine_high; lra).
  apply parts in series.
  assert (Q : Rabs polynomial <= (1/6 + u) * x^3) by (apply Rabs_le; unfold u in *; split; lra).
  assert (F : Rabs (rest - polynomial) <= r * u * ((1/6 + u) * x^3))
    by (eapply Rle_trans; [exact evaluation|]; apply Rmult_le_compat_l; [unfold u; lra | exact Q]).
  assert (0 <= r * x^3 <= 4 * x^3) by nra.
  apply parts in F. apply Rabs_le. unfold u in *. split; lra.
Qed.

(* The error if the angle is off by `off` units of u, and the last rounding by `last` of them. *)
Lemma added off last :
  0 <= off <= 2.1 * x -> 0 <= last ->
  Rabs (x - angle) <= off * u + t -> Rabs (value - (x + rest)) <= last * u ->
  off * cos x + last + (r / 6 + 0.1951) * x^3 <= 3 * sin x + 0x1p-42 ->
  Rabs (value - sin angle) <= 3 * u * Rabs (sin angle) + 1.001 * t + 0x1p-94.
Proof.
  intros O L N V T. pose proof sum as S. pose proof (sine_difference x angle) as D.
  assert (C : 0 <= cos x) by (apply cos_ge_0; interval_intro PI; lra).
  assert (K : Rabs (cos ((x + angle) / 2)) <= cos x + Rabs (x - angle)).
  { replace (cos ((x + angle) / 2)) with (cos x + (cos ((x + angle) / 2) - cos x)) by lra.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_right (cos x)) by lra.
    apply Rplus_le_compat_l. eapply Rle_trans; [apply cosine_difference|].
    replace ((x + angle) / 2 - x) with (- ((x - angle) / 2)) by lra.
    rewrite Rabs_Ropp. unfold Rdiv at 1. rewrite Rabs_mult, (Rabs_right (/2)) by lra.
    assert (Rabs (sin (((x + angle) / 2 + x) / 2)) <= 1)
      by (pose proof (SIN_bound (((x + angle) / 2 + x) / 2)); apply Rabs_le; lra).
    pose proof (Rabs_pos (x - angle)). pose proof (Rabs_pos (sin (((x + angle) / 2 + x) / 2))).
    nra. }
  assert (C1 : cos x <= 1) by (pose proof (COS_bound x); lra).
  pose proof (Rabs_pos (x - angle)) as P.
  set (d := Rabs (x - angle)) in *.
  assert (E : Rabs (sin x - sin angle) <= d * (cos x + d))
    by (eapply Rle_trans; [exact D|]; apply Rmult_le_compat_l; lra).
  assert (small : d <= 0x1p-51) by (unfold u in *; lra).
  assert (E2 : d * (cos x + d) <= off * u * cos x + t + (0x1p-51) * d)
    by (unfold u in *; nra).
  assert (Y : sin x <= Rabs (sin angle) + d * (cos x + d)).
  { apply parts in E. pose proof (Rle_abs (sin angle)). lra. }
  assert (Z : off * u * cos x + last * u + (r / 6 + 0.1951) * u * x^3
      <= 3 * u * sin x + u * 0x1p-42) by (unfold u in *; lra).
  assert (0 <= off * cos x <= 2.1) by nra.
  apply parts in S, V, E. apply Rabs_le. unfold u in *. split; lra.
Qed.
End Anchor.
