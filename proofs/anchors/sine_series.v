(* claim: anchors: polynomial of the sine, distance from sin(x) by x^3
   unit: 2^-53
   bound: 0.195
   source: simd/anchors-inl.h
   formula: sine[i] = fused(sine[i], square[i], F64(terms[term][0]));
   formula: sine[i] = fused(sine[i] * square[i], x[i], x[i]);

   The sine lies between two sums of its series, which are compared with the polynomial. *)
From Coq Require Import Reals Lra Psatz.
From Interval Require Import Tactic.
Open Scope R_scope.

(* The polynomial is x + x^3 q(x^2). *)
Definition q (z : R) := @{nested("sine", "z")}.

Definition series_19 (z : R) :=
  -/6 + z * (/120 + z * (-/5040 + z * (/362880 + z * (-/39916800 + z * (/6227020800
  + z * (-/1307674368000 + z * (/355687428096000 + z * -/121645100408832000))))))).
Definition series_21 (z : R) := series_19 z + z^9 / 51090942171709440000.

Lemma near_19 z : 0 <= z <= 0.616854 -> Rabs (q z - series_19 z) <= @{bound} * 0x1p-53.
Proof. intros H. unfold q, series_19. interval with (i_bisect z, i_taylor z, i_prec 120). Qed.

Lemma near_21 z : 0 <= z <= 0.616854 -> Rabs (q z - series_21 z) <= @{bound} * 0x1p-53.
Proof.
  intros H. unfold q, series_21, series_19.
  interval with (i_bisect z, i_taylor z, i_prec 120).
Qed.

Lemma factorial n : INR (fact (S n)) = INR (S n) * INR (fact n).
Proof. rewrite fact_simpl, mult_INR. reflexivity. Qed.
Opaque fact.
Ltac numbers :=
  unfold sin_approx, sin_term; cbn [sum_f_R0 Nat.mul Nat.add];
  rewrite !factorial; change (fact 0) with 1%nat;
  rewrite !INR_IZR_INZ; cbn [Z.of_nat Pos.of_succ_nat Pos.succ].

Lemma sum_19 x : sin_approx x 9 = x + x^3 * series_19 (x * x).
Proof. numbers. unfold series_19. field. Qed.
Lemma sum_21 x : sin_approx x 10 = x + x^3 * series_21 (x * x).
Proof. numbers. unfold series_21, series_19. field. Qed.

Lemma interval_of_Rabs a b : Rabs a <= b -> -b <= a <= b.
Proof. unfold Rabs. destruct (Rcase_abs a); lra. Qed.

Theorem sine_series x :
  0 <= x <= 0.7854001 -> Rabs (x + x^3 * q (x * x) - sin x) <= @{bound} * 0x1p-53 * x^3.
Proof.
  intros H.
  assert (Z : 0 <= x * x <= 0.616854) by nra.
  pose proof (interval_of_Rabs _ _ (near_19 _ Z)) as A.
  pose proof (interval_of_Rabs _ _ (near_21 _ Z)) as B.
  destruct (sin_bound x 4) as [L U]; [lra | pose proof PI2_3_2; unfold PI2 in *; lra |].
  cbn [Nat.mul Nat.add] in L, U. rewrite sum_19 in L. rewrite sum_21 in U.
  assert (0 <= x^3) by (apply pow_le; lra).
  apply Rabs_le. nra.
Qed.
