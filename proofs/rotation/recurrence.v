(* claim: rotation: error of 2 cos(w), on the average of a run, for every w
   constant: RotationError.multiplier
   unit: 2^-53
   bound: 1.14
   modes: fused unfused
   source: simd/rotation/tile-inl.h
   formula: from[i] = fused_minus(multiplier[i], next[i], from[i]);
   source: simd/rotation/rotation-inl.h
   formula: const F64 multiplier[2] = {cos_row[0] + cos_row[0], cos_row[1] + cos_row[1]};

   Errors obey the recurrence of the values, to which each step adds its own. w is in (0, pi], and
   a its distance from the nearest multiple of pi. Row 0 is the row before a run. *)
From Coq Require Import Reals Lra Psatz.
From Interval Require Import Tactic.
From Lemmas Require Import angles.
Open Scope R_scope.

Section Recurrence.
Variable w : R.

(* sin((n + 1) w) / sin(w), and the one before, without the quotient. *)
Fixpoint growth (n : nat) : R * R :=
  match n with
  | O => (1, 0)
  | S n => let '(now, before) := growth n in (2 * cos w * now - before, now)
  end.
Definition U n := fst (growth n).

Lemma growth_pair n :
  fst (growth n) * sin w = sin (INR (S n) * w) /\ snd (growth n) * sin w = sin (INR n * w).
Proof.
  induction n as [|n [A B]].
  - cbn [growth fst snd]. change (INR 1) with 1. change (INR 0) with 0.
    rewrite !Rmult_0_l, !Rmult_1_l, sin_0. split; lra.
  - cbn [growth]. destruct (growth n) as [now before]. cbn [fst snd] in *. split; [|exact A].
    replace ((2 * cos w * now - before) * sin w)
      with (2 * cos w * (now * sin w) - before * sin w) by ring.
    rewrite A, B, !S_INR.
    replace ((INR n + 1 + 1) * w) with ((INR n + 1) * w + w) by ring.
    replace (INR n * w) with ((INR n + 1) * w - w) by ring.
    rewrite sin_plus, sin_minus. ring.
Qed.

Lemma U_sine n : Rabs (U n) * Rabs (sin w) <= 1.
Proof.
  rewrite <- Rabs_mult. unfold U. rewrite (proj1 (growth_pair n)).
  pose proof (SIN_bound (INR (S n) * w)). apply Rabs_le. lra.
Qed.

Lemma growth_cosine n :
  fst (growth n) = cos w * snd (growth n) + cos (INR n * w) /\
  cos w * fst (growth n) - snd (growth n) = cos (INR (S n) * w).
Proof.
  induction n as [|n [A B]].
  - cbn [growth fst snd]. change (INR 1) with 1. change (INR 0) with 0.
    rewrite !Rmult_0_l, Rmult_1_l, cos_0. split; lra.
  - cbn [growth]. destruct (growth n) as [now before] eqn:G. cbn [fst snd] in *. split; [lra|].
    (* cos(w) U(n+1) - U(n) = 2 cos(w) cos((n+1) w) - cos(n w) *)
    replace (cos w * (2 * cos w * now - before) - now)
      with (2 * cos w * (cos w * now - before) - (now - cos w * before)) by ring.
    rewrite B. replace (now - cos w * before) with (cos (INR n * w)) by lra.
    rewrite !S_INR.
    replace ((INR n + 1 + 1) * w) with ((INR n + 1) * w + w) by ring.
    replace (INR n * w) with ((INR n + 1) * w - w) by ring.
    rewrite cos_plus, cos_minus. ring.
Qed.

(* An error grows by at most the number of steps. *)
Theorem U_linear n : Rabs (U n) <= INR (S n).
Proof.
  induction n as [|n I].
  - unfold U. simpl. rewrite Rabs_R1. lra.
  - unfold U in *. rewrite (proj1 (growth_cosine (S n))).
    replace (snd (growth (S n))) with (fst (growth n))
      by (cbn [growth]; destruct (growth n); reflexivity).
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (S_INR (S n)).
    pose proof (COS_bound w). pose proof (COS_bound (INR (S n) * w)).
    assert (Rabs (cos w) <= 1) by (apply Rabs_le; lra).
    assert (Rabs (cos (INR (S n) * w)) <= 1) by (apply Rabs_le; lra).
    pose proof (Rabs_pos (fst (growth n))). pose proof (Rabs_pos (cos w)). nra.
Qed.

(* The error after n steps, from those of rows 0 and 1 and those that the steps add. *)
Fixpoint after (n : nat) (before now : R) (added : nat -> R) : R :=
  match n with
  | O => now
  | S n => after n now (2 * cos w * now - before + added O) (fun k => added (S k))
  end.
Fixpoint grown (n : nat) (added : nat -> R) : R :=
  match n with
  | O => 0
  | S n => U n * added O + grown n (fun k => added (S k))
  end.
Fixpoint sum (n : nat) : R := match n with O => 0 | S n => Rabs (U n) + sum n end.

Theorem superposition n before now added :
  after n before now added
  = fst (growth n) * now - snd (growth n) * before + grown n added.
Proof.
  revert before now added. induction n as [|n I]; intros.
  - simpl. ring.
  - cbn [after grown]. rewrite I. unfold U. cbn [growth].
    destruct (growth n) as [a b]. cbn [fst snd]. ring.
Qed.

Theorem grown_bound n added most :
  (forall k, Rabs (added k) <= most) -> Rabs (grown n added) <= most * sum n.
Proof.
  revert added. induction n as [|n I]; intros added A.
  - simpl. rewrite Rabs_R0. lra.
  - cbn [grown sum]. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    pose proof (I (fun k => added (S k)) (fun k => A (S k))). pose proof (A O).
    pose proof (Rabs_pos (U n)). nra.
Qed.

(* What rows 0 and 1 share goes on as a wave of its own size. *)
Theorem wave n x y :
  fst (growth n) * (x * cos w + y * sin w) - snd (growth n) * x
  = x * cos (INR (S n) * w) + y * sin (INR (S n) * w).
Proof.
  rewrite <- (proj1 (growth_pair n)), <- (proj2 (growth_cosine n)). ring.
Qed.

(* The errors of a run's 15 steps: each rounds by `step` M, and has the constant's error times a
   row, at most M. constant.v bounds the constant's error for a up to pi / 4, anchor_cosine.v that
   of others. *)
Let steps := @{int(constant("run_rows")) - 1}%nat.
Let step := @{constant("RotationError.step")}.
Variable a constant : R.
Hypothesis range : 0 <= a <= PI / 2.
Hypothesis of_w : Rabs (sin w) = sin a.
Hypothesis small : a <= 0.786 -> constant <= 1.001 + @{proven("constant")} * a^2.
Hypothesis large : 0.785 <= a -> constant <= 2 * @{proven("anchor_cosine")}.
Hypothesis positive : 0 <= constant.

Lemma sum_linear : sum steps <= @{constant("RotationError.growth")}.
Proof.
  unfold steps. cbn [sum].
  repeat match goal with |- context [Rabs (U ?n)] =>
    let H := fresh in pose proof (U_linear n) as H; rewrite INR_IZR_INZ in H; simpl in H;
    set (Rabs (U n)) in * end.
  lra.
Qed.

Lemma sum_sine : sum steps * sin a <= 15.
Proof.
  rewrite <- of_w. unfold steps. cbn [sum].
  repeat match goal with |- context [Rabs (U ?n)] =>
    let H := fresh in pose proof (U_sine n) as H; set (Rabs (U n)) in * end.
  lra.
Qed.

Theorem run added :
  (forall k, Rabs (added k) <= constant + step) ->
  Rabs (grown steps added) <= @{constant("RotationError.growth")} * (@{bound} + step).
Proof.
  intros A. pose proof (grown_bound steps added (constant + step) A) as G.
  pose proof sum_linear as L. pose proof sum_sine as S.
  assert (0 <= sum steps).
  { unfold steps. cbn [sum].
    repeat match goal with |- context [Rabs (U ?n)] =>
      pose proof (Rabs_pos (U n)); set (Rabs (U n)) in * end.
    lra. }
  eapply Rle_trans; [exact G|]. unfold step in *.
  destruct (Rle_dec a 0.1274) as [N|F].
  - specialize (small ltac:(lra)). assert (constant <= @{bound}) by nra. nra.
  - assert (W : 0.1274 <= a <= 1.571) by (interval_intro (PI / 2) as P; lra).
    assert (I : 0.127 <= sin a) by (interval with (i_bisect a)).
    assert (T : (constant + @{constant("RotationError.step")}) * 15
        <= @{constant("RotationError.growth")} * (@{bound} + @{constant("RotationError.step")})
          * sin a).
    { destruct (Rle_dec a 0.7855) as [Q|Q].
      - specialize (small ltac:(lra)).
        apply Rle_trans with
          ((1.001 + @{proven("constant")} * a^2 + @{constant("RotationError.step")}) * 15); [lra|].
        assert (V : 0.1274 <= a <= 0.7855) by lra. clear - V.
        apply Rminus_le. interval with (i_bisect a, i_taylor a, i_depth 20).
      - specialize (large ltac:(lra)).
        assert (V : 0.7855 <= a <= 1.571) by lra.
        assert (0.7 <= sin a) by (interval with (i_bisect a)). lra. }
    assert (0 < sin a) by lra.
    apply Rmult_le_reg_r with (sin a); [lra|].
    apply Rle_trans with ((constant + @{constant("RotationError.step")}) * 15); [nra | exact T].
Qed.
End Recurrence.
