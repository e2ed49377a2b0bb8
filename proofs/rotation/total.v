(* claim: rotation: an entry before it is rounded, in columns of values up to 1
   constant: RotationError.total
   unit: 2^-53
   bound: 489.4 729.4
   modes: fused unfused
   source: simd/rotation/rotation-inl.h
   formula: if (block % anchored_blocks == 0 || is_short) {
   formula: rotate(tables.block.from(begin), size, panel.sine, panel.cosine);

   The bounds of anchor_cosine.v, step.v and recurrence.v, added. A row of a run has the error of
   the middle row, as a wave (recurrence.v), that of the second row, grown by at most run_rows, and
   those of the steps. Truncation is not in it. *)
From Coq Require Import Reals Lra Psatz Lia.
From Lemmas Require Import angles.
Open Scope R_scope.

(* Errors of a sine and of a cosine, in units, and their part in a direction. *)
Definition part (of_sine of_cosine phi : R) := of_sine * cos phi + of_cosine * sin phi.
Definition within (of_sine of_cosine most : R) :=
  forall phi, Rabs (part of_sine of_cosine phi) <= most.

Lemma anchor s c :
  Rabs s <= @{proven("anchor_cosine")} -> Rabs c <= @{proven("anchor_cosine")} -> within s c 2.71.
Proof.
  intros S C phi. unfold part. apply parts in S, C.
  pose proof (sin2_cos2 phi) as I. unfold Rsqr in I.
  set (x := cos phi) in *. set (y := sin phi) in *.
  assert (Q : (s * x + c * y) * (s * x + c * y) <= s * s + c * c).
  { assert (0 <= (s * y - c * x) * (s * y - c * x)) by apply Rle_0_sqr.
    replace (s * s + c * c) with ((s * s + c * c) * (y * y + x * x)) by (rewrite I; ring). nra. }
  assert (s * s <= 3.6481) by nra. assert (c * c <= 3.6481) by nra.
  apply Rabs_le. nra.
Qed.

(* An angle addition turns the errors by a, and adds its own. *)
Lemma turned s c a ds dc most step :
  within s c most -> within ds dc step ->
  within (s * cos a + c * sin a + ds) (c * cos a - s * sin a + dc) (most + step).
Proof.
  intros M D phi.
  replace (part (s * cos a + c * sin a + ds) (c * cos a - s * sin a + dc) phi)
    with (part s c (a + phi) + part ds dc phi)
    by (unfold part; rewrite cos_plus, sin_plus; ring).
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; auto.
Qed.

Fixpoint rotated (n : nat) (a s c : R) (ds dc : nat -> R) : R * R :=
  match n with
  | O => (s, c)
  | S n => let '(s, c) := rotated n a s c ds dc in
    (s * cos a + c * sin a + ds n, c * cos a - s * sin a + dc n)
  end.

Lemma middle_row n a s c ds dc most step :
  within s c most -> (forall k, within (ds k) (dc k) step) ->
  let '(s, c) := rotated n a s c ds dc in within s c (most + INR n * step).
Proof.
  intros M D. induction n as [|n I].
  - cbn [rotated]. change (INR 0) with 0. now rewrite Rmult_0_l, Rplus_0_r.
  - cbn [rotated]. destruct (rotated n a s c ds dc) as [s' c'].
    rewrite S_INR. replace (most + (INR n + 1) * step) with (most + INR n * step + step) by ring.
    now apply turned.
Qed.

Definition step := @{proven("step")}.
Definition rotations := @{int(constant("anchored_blocks")) - 1}%nat.

(* The sine of a row; the cosine is the same, a quarter turn further. *)
Theorem total a s c ds dc second grown U phi :
  Rabs s <= @{proven("anchor_cosine")} -> Rabs c <= @{proven("anchor_cosine")} ->
  (forall k, within (ds k) (dc k) step) ->
  Rabs second <= step -> Rabs U <= @{int(constant("run_rows"))} ->
  Rabs grown <= @{constant("RotationError.growth")}
    * (@{proven("recurrence")} + @{constant("RotationError.step")}) ->
  let '(s, c) := rotated rotations a s c ds dc in
  Rabs (part s c phi + U * second + grown) <= @{bound}.
Proof.
  intros S C D N W G.
  pose proof (middle_row rotations a s c ds dc _ _ (anchor s c S C) D) as M.
  destruct (rotated rotations a s c ds dc) as [s' c']. specialize (M phi).
  rewrite INR_IZR_INZ in M. simpl Z.of_nat in M.
  assert (P : Rabs (U * second) <= @{int(constant("run_rows"))} * step)
    by (rewrite Rabs_mult; apply Rmult_le_compat; try apply Rabs_pos; assumption).
  apply parts in M, P, G. apply Rabs_le. unfold step in *. lra.
Qed.
