(* claim: rotation: what an angle addition adds, in columns of values up to 1
   constant: RotationError.rotation
   unit: 2^-53
   bound: 7.41425
   source: simd/anchors-inl.h
   formula: fused(s, cos_a, c * sin_a).store_unaligned(sine + k);
   formula: fused_minus(c, cos_a, s * sin_a).store_unaligned(cosine + k);
   source: simd/rotation/rotation-inl.h
   formula: next_s[i] = fused(s[i], cos_row, c[i] * sin_row);
   formula: next_c[i] = fused_minus(c[i], cos_row, s[i] * sin_row);

   In any direction phi, into which later rotations turn the errors of the sine and of the cosine:
   those of the constants, which are anchors, and the roundings of both products and their sum. A
   fused operation does not round one of the products. s and c are as they are computed, within
   2^-40 of a sine and cosine; units are those of u. *)
From Coq Require Import Reals Lra Psatz.
From Interval Require Import Tactic.
From Lemmas Require Import angles.
Open Scope R_scope.

Section Step.
Let u := 0x1p-53.
Variables theta a phi : R.
Variables s c sin_a cos_a s_products c_products next_s next_c : R.
Let tiny := 0x1p-40.
Hypothesis s_near : Rabs (s - sin theta) <= tiny.
Hypothesis c_near : Rabs (c - cos theta) <= tiny.
Hypothesis sine_near : Rabs (sin_a - sin a) <= @{constant("RotationError.anchor_sine")} * u.
Hypothesis cosine_near : Rabs (cos_a - cos a) <= @{constant("RotationError.anchor_cosine")} * u.
(* The sums of the products, and what is stored. *)
Hypothesis of_sine : Rabs (s_products - (s * cos_a + c * sin_a))
  <= u * (Rabs (s * cos_a) + Rabs (c * sin_a)).
Hypothesis of_cosine : Rabs (c_products - (c * cos_a - s * sin_a))
  <= u * (Rabs (c * cos_a) + Rabs (s * sin_a)).
Hypothesis next_sine : Rabs (next_s - s_products) <= u * Rabs s_products.
Hypothesis next_cosine : Rabs (next_c - c_products) <= u * Rabs c_products.

Lemma products_of_cosine x y : Rabs (cos x * cos y) + Rabs (sin x * sin y) <= 1.
Proof.
  pose proof (COS_bound (x + y)) as A. pose proof (COS_bound (x - y)) as B.
  rewrite cos_plus in A. rewrite cos_minus in B.
  unfold Rabs. destruct (Rcase_abs (cos x * cos y)), (Rcase_abs (sin x * sin y)); lra.
Qed.

(* A product of computed values is near that of exact ones. *)
Lemma near x y p q :
  Rabs (x - p) <= tiny -> Rabs (y - q) <= tiny -> Rabs p <= 1 -> Rabs q <= 1 ->
  Rabs (x * y - p * q) <= 3 * tiny /\ Rabs (x * y) <= Rabs (p * q) + 3 * tiny.
Proof.
  intros X Y P Q.
  assert (D : Rabs (x * y - p * q) <= 3 * tiny).
  { apply parts in X, Y, P, Q. apply Rabs_le. unfold tiny in *. split; nra. }
  split; [exact D|]. replace (x * y) with (p * q + (x * y - p * q)) at 1 by lra.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Theorem step :
  Rabs ((next_s - (s * cos a + c * sin a)) * cos phi + (next_c - (c * cos a - s * sin a)) * sin phi)
  <= @{bound} * u.
Proof.
  destruct (at_most_1 theta) as [T1 T2]. destruct (at_most_1 a) as [A1 A2].
  destruct (at_most_1 phi) as [F1 F2].
  assert (SN : Rabs (sin_a - sin a) <= tiny) by (unfold u, tiny in *; lra).
  assert (CN : Rabs (cos_a - cos a) <= tiny) by (unfold u, tiny in *; lra).
  destruct (near s cos_a _ _ s_near CN T1 A2) as [N1 M1].
  destruct (near c sin_a _ _ c_near SN T2 A1) as [N2 M2].
  destruct (near c cos_a _ _ c_near CN T2 A2) as [N3 M3].
  destruct (near s sin_a _ _ s_near SN T1 A1) as [N4 M4].
  pose proof (products theta a) as Q1. pose proof (products_of_cosine theta a) as Q2.
  assert (R1 : Rabs (s_products - (s * cos_a + c * sin_a)) <= u * (1 + 6 * tiny))
    by (unfold u, tiny in *; lra).
  assert (R2 : Rabs (c_products - (c * cos_a - s * sin_a)) <= u * (1 + 6 * tiny))
    by (unfold u, tiny in *; lra).
  (* Results are near a sine and a cosine. *)
  assert (V1 : Rabs s_products <= Rabs (sin (theta + a)) + 7 * tiny).
  { rewrite sin_plus. apply parts in N1, N2, R1.
    assert (I : Rabs (s_products - (sin theta * cos a + cos theta * sin a)) <= 7 * tiny)
      by (apply Rabs_le; unfold u, tiny in *; lra).
    replace s_products with ((sin theta * cos a + cos theta * sin a)
      + (s_products - (sin theta * cos a + cos theta * sin a))) at 1 by lra.
    eapply Rle_trans; [apply Rabs_triang|]. lra. }
  assert (V2 : Rabs c_products <= Rabs (cos (theta + a)) + 7 * tiny).
  { rewrite cos_plus. apply parts in N3, N4, R2.
    assert (I : Rabs (c_products - (cos theta * cos a - sin theta * sin a)) <= 7 * tiny)
      by (apply Rabs_le; unfold u, tiny in *; lra).
    replace c_products with ((cos theta * cos a - sin theta * sin a)
      + (c_products - (cos theta * cos a - sin theta * sin a))) at 1 by lra.
    eapply Rle_trans; [apply Rabs_triang|]. lra. }
  pose proof (both phi) as B. pose proof (products (theta + a) phi) as Q3.
  rewrite !Rabs_mult in Q3.
  set (x1 := next_s - s_products) in *. set (y1 := next_c - c_products) in *.
  set (x2 := s_products - (s * cos_a + c * sin_a)) in *.
  set (y2 := c_products - (c * cos_a - s * sin_a)) in *.
  (* The errors of the constants. *)
  set (ds := sin_a - sin a) in *. set (dc := cos_a - cos a) in *.
  assert (K1 : Rabs (s * cos phi + c * sin phi) <= 1 + 2 * tiny).
  { pose proof (SIN_bound (theta + phi)) as Z. rewrite sin_plus in Z.
    apply parts in s_near, c_near, F1, F2. apply Rabs_le. unfold tiny in *. split; nra. }
  assert (K2 : Rabs (c * cos phi - s * sin phi) <= 1 + 2 * tiny).
  { pose proof (COS_bound (theta + phi)) as Z. rewrite cos_plus in Z.
    apply parts in s_near, c_near, F1, F2. apply Rabs_le. unfold tiny in *. split; nra. }
  replace ((next_s - (s * cos a + c * sin a)) * cos phi
      + (next_c - (c * cos a - s * sin a)) * sin phi)
    with (dc * (s * cos phi + c * sin phi) + ds * (c * cos phi - s * sin phi)
      + (x1 * cos phi + y1 * sin phi) + (x2 * cos phi + y2 * sin phi))
    by (unfold dc, ds, x1, x2, y1, y2; ring).
  assert (C1 : Rabs (dc * (s * cos phi + c * sin phi))
      <= @{constant("RotationError.anchor_cosine")} * u * (1 + 2 * tiny))
    by (rewrite Rabs_mult; apply Rmult_le_compat; try apply Rabs_pos; assumption).
  assert (C2 : Rabs (ds * (c * cos phi - s * sin phi))
      <= @{constant("RotationError.anchor_sine")} * u * (1 + 2 * tiny))
    by (rewrite Rabs_mult; apply Rmult_le_compat; try apply Rabs_pos; assumption).
  assert (D : Rabs (x2 * cos phi + y2 * sin phi) <= u * (1 + 6 * tiny) * 1.41422).
  { eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
    assert (Rabs x2 * Rabs (cos phi) <= u * (1 + 6 * tiny) * Rabs (cos phi))
      by (apply Rmult_le_compat_r; [apply Rabs_pos | assumption]).
    assert (Rabs y2 * Rabs (sin phi) <= u * (1 + 6 * tiny) * Rabs (sin phi))
      by (apply Rmult_le_compat_r; [apply Rabs_pos | assumption]).
    unfold u, tiny in *. lra. }
  assert (E : Rabs (x1 * cos phi + y1 * sin phi) <= u * (1 + 14 * tiny)).
  { eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
    assert (G1 : Rabs x1 * Rabs (cos phi)
        <= u * ((Rabs (sin (theta + a)) + 7 * tiny) * Rabs (cos phi))).
    { rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply Rabs_pos|]. unfold u in *. lra. }
    assert (G2 : Rabs y1 * Rabs (sin phi)
        <= u * ((Rabs (cos (theta + a)) + 7 * tiny) * Rabs (sin phi))).
    { rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply Rabs_pos|]. unfold u in *. lra. }
    unfold u, tiny in *. lra. }
  apply parts in C1, C2, D, E. apply Rabs_le. unfold u, tiny in *. lra.
Qed.
End Step.
