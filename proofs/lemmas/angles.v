(* Lemmas about sines and cosines that several proofs use. *)
From Coq Require Import Reals Lra Psatz.
From Interval Require Import Tactic.
Open Scope R_scope.

Lemma parts a b : Rabs a <= b -> -b <= a <= b.
Proof. unfold Rabs. destruct (Rcase_abs a); lra. Qed.

Lemma at_most_1 x : Rabs (sin x) <= 1 /\ Rabs (cos x) <= 1.
Proof.
  pose proof (SIN_bound x). pose proof (COS_bound x). split; apply Rabs_le; lra.
Qed.

Lemma products x y : Rabs (sin x * cos y) + Rabs (cos x * sin y) <= 1.
Proof.
  pose proof (SIN_bound (x + y)) as A. pose proof (SIN_bound (x - y)) as B.
  rewrite sin_plus in A. rewrite sin_minus in B.
  unfold Rabs. destruct (Rcase_abs (sin x * cos y)), (Rcase_abs (cos x * sin y)); lra.
Qed.

(* The square root of 2. *)
Lemma both x : Rabs (sin x) + Rabs (cos x) <= 1.414214.
Proof.
  pose proof (sin2_cos2 x) as A. rewrite (Rsqr_abs (sin x)), (Rsqr_abs (cos x)) in A.
  unfold Rsqr in A. set (p := Rabs (sin x)) in *. set (q := Rabs (cos x)) in *.
  assert (0 <= (p - q) * (p - q)) by apply Rle_0_sqr.
  destruct (Rle_dec (p + q) 1.414214); [assumption | nra].
Qed.

(* Errors of a sine and a cosine, in any direction. *)
Lemma in_direction x y e a :
  Rabs x <= e -> Rabs y <= e -> Rabs (x * cos a + y * sin a) <= e * 1.414214.
Proof.
  intros X Y. eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
  pose proof (both a). pose proof (Rabs_pos x).
  pose proof (Rabs_pos (cos a)). pose proof (Rabs_pos (sin a)). nra.
Qed.

Lemma product_of_small x y d e : Rabs x <= d -> Rabs y <= e -> Rabs (x * y) <= d * e.
Proof. intros X Y. rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; assumption. Qed.

Lemma sine_below d : Rabs (sin d) <= Rabs d.
Proof.
  assert (H : forall a, 0 <= a -> Rabs (sin a) <= a).
  { intros a A. destruct (Req_dec a 0) as [->|N].
    - rewrite sin_0, Rabs_R0. lra.
    - destruct (Rle_dec 1 a).
      + pose proof (SIN_bound a). apply Rabs_le. lra.
      + assert (0 <= sin a) by (apply sin_ge_0; [|interval_intro PI]; lra).
        rewrite Rabs_right by lra. apply Rlt_le, sin_lt_x. lra. }
  destruct (Rle_dec 0 d).
  - rewrite (Rabs_right d) by lra. auto.
  - rewrite <- Rabs_Ropp, <- sin_neg, (Rabs_left d) by lra. apply H. lra.
Qed.

Lemma half d : Rabs (sin (d / 2)) <= Rabs d / 2.
Proof.
  pose proof (sine_below (d / 2)) as H. unfold Rdiv in *.
  rewrite (Rabs_mult d), (Rabs_right (/2)) in H; lra.
Qed.

Lemma cosine_difference a b :
  Rabs (cos a - cos b) <= Rabs (a - b) * Rabs (sin ((a + b) / 2)).
Proof.
  rewrite form2, !Rabs_mult, (Rabs_left (-2)) by lra.
  pose proof (half (a - b)). pose proof (Rabs_pos (sin ((a + b) / 2))). nra.
Qed.

Lemma sine_difference a b :
  Rabs (sin a - sin b) <= Rabs (a - b) * Rabs (cos ((a + b) / 2)).
Proof.
  rewrite form4, !Rabs_mult, (Rabs_right 2) by lra.
  pose proof (half (a - b)). pose proof (Rabs_pos (cos ((a + b) / 2))). nra.
Qed.

(* |sin(n w)| is at most n times |sin(w)|. *)
Lemma sine_growth n w : Rabs (sin (INR n * w)) <= INR n * Rabs (sin w).
Proof.
  induction n as [|n IH].
  - simpl. rewrite Rmult_0_l, sin_0, Rabs_R0. lra.
  - rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, sin_plus.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
    assert (C : forall a, Rabs (cos a) <= 1)
      by (intros a; pose proof (COS_bound a); apply Rabs_le; lra).
    pose proof (C w). pose proof (C (INR n * w)).
    pose proof (Rabs_pos (sin w)). pose proof (Rabs_pos (sin (INR n * w))).
    pose proof (Rabs_pos (cos w)). pose proof (Rabs_pos (cos (INR n * w))). nra.
Qed.

Lemma sine_low x : 0 <= x <= 1 -> x - x^3 / 6 <= sin x.
Proof.
  intros H. destruct (sin_bound x 0) as [L _]; [lra | pose proof PI2_3_2; unfold PI2 in *; lra |].
  refine (Rle_trans _ _ _ (Req_le _ _ _) L).
  unfold sin_approx, sin_term. cbn [sum_f_R0 Nat.mul Nat.add fact pow]. simpl. field.
Qed.

Lemma cosine_high x : 0 <= x <= 1 -> cos x <= 1 - x^2 / 2 + x^4 / 24.
Proof.
  intros H. destruct (cos_bound x 0) as [_ U]; try (pose proof PI2_3_2; unfold PI2 in *; lra).
  refine (Rle_trans _ _ _ U (Req_le _ _ _)).
  unfold cos_approx, cos_term. simpl. field.
Qed.

Lemma sine_high x : 0 <= x -> sin x <= x.
Proof.
  intros X. pose proof (sine_below x) as B. rewrite (Rabs_right x) in B by lra.
  apply parts in B. lra.
Qed.
