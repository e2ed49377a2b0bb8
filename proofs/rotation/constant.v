(* claim: rotation: error of 2 cos(w) beyond 1.001 units, over w^2, for w up to pi / 4
   unit: 2^-53
   bound: 8
   modes: fused unfused
   source: simd/rotation/rotation-inl.h
   formula: const F64 multiplier[2] = {cos_row[0] + cos_row[0], cos_row[1] + cos_row[1]};

   Doubling is exact. The angle of position 1 is off by at most two roundings, relatively; its
   truncation, below 2^-97, is left out here, as t is in anchor_cosine.v. *)
From Coq Require Import Reals Lra Psatz.
From Interval Require Import Tactic.
From Lemmas Require Import angles.
Open Scope R_scope.

Theorem constant w x polynomial rest value :
  let u := 0x1p-53 in
  0 <= x <= 0.7854001 -> 0 <= w ->
  Rabs (x - w) <= 2 * u * w ->
  Rabs (1 + polynomial - cos x) <= @{proven("cosine_polynomial")} * u ->
  Rabs (rest - polynomial) <= @{proven("cosine_evaluation_relative")} * u * Rabs polynomial ->
  Rabs (value - (1 + rest)) <= 1/2 * u -> (* below 1, where doubles are u apart *)
  2 * Rabs (value - cos w) <= (1.001 + @{bound} * w^2) * u.
Proof.
  intros u X W N P E R.
  pose proof (cosine_difference x w) as D. pose proof (sine_below ((x + w) / 2)) as S.
  apply parts in N.
  assert (M : Rabs ((x + w) / 2) <= 1.001 * w) by (apply Rabs_le; unfold u in *; lra).
  assert (D2 : Rabs (cos x - cos w) <= 2 * u * w * (1.001 * w)).
  { eapply Rle_trans; [exact D|]. apply Rmult_le_compat; try apply Rabs_pos; [|lra].
    apply Rabs_le. exact N. }
  assert (C : 1 - x^2 / 2 <= cos x).
  { destruct (cos_bound x 0) as [L _]; try (pose proof PI2_3_2; unfold PI2 in *; lra).
    refine (Rle_trans _ _ _ (Req_le _ _ _) L). unfold cos_approx, cos_term. simpl. field. }
  assert (C1 : cos x <= 1) by (pose proof (COS_bound x); lra).
  assert (X2 : 0 <= x^2 <= 1.001 * w^2) by (unfold u in *; nra).
  apply parts in P.
  assert (Q : Rabs polynomial <= 0.501 * x^2 + 0x1p-60) by (apply Rabs_le; unfold u in *; lra).
  assert (E2 : Rabs (rest - polynomial)
      <= @{proven("cosine_evaluation_relative")} * u * (0.501 * x^2 + 0x1p-60))
    by (eapply Rle_trans; [exact E|]; apply Rmult_le_compat_l; [unfold u; lra | exact Q]).
  apply parts in D2, E2, R.
  assert (T : Rabs (value - cos w) <= (0.5005 + @{bound} / 2 * w^2) * u)
    by (apply Rabs_le; unfold u in *; lra).
  lra.
Qed.
