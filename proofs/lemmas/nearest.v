(* Doubles as integers, and the elements of a type that keeps fewer of their bits. *)
From Coq Require Import ZArith Reals Lra Lia Psatz.
Open Scope Z_scope.

(* The magnitude of a double with the bits E 2^52 + m, in units of the smallest double. *)
Definition weight (E : Z) : Z := 2 ^ (Z.max E 1 - 1).
Definition base (E : Z) : Z := if E =? 0 then 0 else 2^52 * weight E.
Definition magnitude (bits : Z) : Z :=
  base (bits / 2^52) + (bits mod 2^52) * weight (bits / 2^52).

Lemma weight_positive E : 0 < weight E.
Proof. unfold weight. apply Z.pow_pos_nonneg; lia. Qed.

Lemma base_next E : 0 <= E -> base (E + 1) = base E + 2^52 * weight E.
Proof.
  intros H. unfold base, weight. destruct (Z.eqb_spec E 0) as [->|N].
  - reflexivity.
  - destruct (Z.eqb_spec (E + 1) 0); [lia|].
    replace (Z.max (E + 1) 1 - 1) with (Z.max E 1 - 1 + 1) by lia.
    rewrite Z.pow_add_r by lia. lia.
Qed.

Lemma weight_next E :
  0 <= E -> weight (E + 1) = weight E
    \/ weight (E + 1) = 2 * weight E /\ base (E + 1) = 2^52 * weight (E + 1).
Proof.
  intros H. unfold base, weight. destruct (Z.eqb_spec E 0) as [->|N].
  - left. reflexivity.
  - right. destruct (Z.eqb_spec (E + 1) 0); [lia|].
    replace (Z.max (E + 1) 1 - 1) with (Z.max E 1 - 1 + 1) by lia.
    rewrite Z.pow_add_r by lia. lia.
Qed.

(* An octave is linear, its ends included. *)
Lemma magnitude_in E m :
  0 <= E -> 0 <= m <= 2^52 -> magnitude (E * 2^52 + m) = base E + m * weight E.
Proof.
  intros H [L U]. unfold magnitude. destruct (Z.eq_dec m (2^52)) as [->|N].
  - replace (E * 2^52 + 2^52) with ((E + 1) * 2^52) by lia.
    rewrite Z.div_mul, Z.mod_mul by lia. rewrite base_next by lia. lia.
  - rewrite Z.div_add_l, (Z.add_comm (E * 2^52)), Z.mod_add by lia.
    rewrite Z.div_small, Z.mod_small by lia. rewrite Z.add_0_r. lia.
Qed.

Lemma magnitude_next b : 0 <= b -> magnitude b < magnitude (b + 1).
Proof.
  intros H. rewrite (Z.div_mod b (2^52)) by lia.
  pose proof (Z.mod_pos_bound b (2^52) ltac:(lia)).
  assert (0 <= b / 2^52) by (apply Z.div_pos; lia).
  rewrite (Z.mul_comm (2^52)).
  replace (b / 2^52 * 2^52 + b mod 2^52 + 1) with (b / 2^52 * 2^52 + (b mod 2^52 + 1)) by lia.
  rewrite !magnitude_in by lia. pose proof (weight_positive (b / 2^52)). nia.
Qed.

Lemma magnitude_increases a b : 0 <= a <= b -> magnitude a <= magnitude b.
Proof.
  intros [A B]. pattern b. apply Zlt_lower_bound_ind with (z := a); [|lia].
  intros x I X. destruct (Z.eq_dec x a) as [->|N]; [lia|].
  pose proof (I (x - 1) ltac:(lia)). pose proof (magnitude_next (x - 1) ltac:(lia)).
  replace (x - 1 + 1) with x in * by lia. lia.
Qed.

Section Elements.
(* Elements are the doubles whose lowest `dropped` bits are 0. *)
Variable dropped : Z.
Hypothesis kept : 1 <= dropped <= 51.
Let spacing := 2^dropped.
Let half := 2^(dropped - 1).
Definition element (n : Z) := magnitude (n * spacing).

Lemma two_halves : spacing = 2 * half.
Proof.
  unfold spacing, half. replace dropped with (dropped - 1 + 1) at 1 by lia.
  rewrite Z.pow_add_r by lia. lia.
Qed.
Lemma half_positive : 1 <= half.
Proof. unfold half. pose proof (Z.pow_pos_nonneg 2 (dropped - 1)). lia. Qed.
Lemma octave : exists per_octave, 2^52 = per_octave * spacing /\ 1 < per_octave.
Proof.
  exists (2^(52 - dropped)). unfold spacing. rewrite <- Z.pow_add_r by lia.
  split; [f_equal; lia|]. apply Z.pow_gt_1; lia.
Qed.

(* Element n and the next are in one octave E. *)
Lemma neighbours n :
  0 <= n -> exists E f, 0 <= E /\ 0 <= f /\ f + spacing <= 2^52 /\ n * spacing = E * 2^52 + f.
Proof.
  intros H. destruct octave as [q [Q Q1]].
  exists (n / q), ((n mod q) * spacing).
  pose proof (Z.mod_pos_bound n q ltac:(lia)). pose proof half_positive. pose proof two_halves.
  pose proof (Z.div_mod n q ltac:(lia)).
  repeat split; [apply Z.div_pos; lia | nia | nia | nia].
Qed.

(* y is nearer to element n than to any other. *)
Definition nearest (y : R) (n : Z) :=
  forall other, 0 <= other -> other <> n ->
  (Rabs (y - IZR (element n)) < Rabs (y - IZR (element other)))%R.

(* It is if it is between the midpoints. *)
Lemma between n y :
  0 <= n -> (0 <= y)%R ->
  n = 0 \/ (2 * y > IZR (element (n - 1) + element n))%R ->
  (2 * y < IZR (element n + element (n + 1)))%R -> nearest y n.
Proof.
  intros N Y L U other O D. rewrite plus_IZR in *.
  pose proof half_positive. pose proof two_halves.
  assert (M : forall a b, 0 <= a <= b -> (IZR (element a) <= IZR (element b))%R)
    by (intros; apply IZR_le, magnitude_increases; nia).
  assert (S : forall a b, 0 <= a < b -> (IZR (element a) < IZR (element b))%R).
  { intros a b I. apply IZR_lt. eapply Z.lt_le_trans; [apply magnitude_next; nia|].
    apply magnitude_increases. nia. }
  destruct (Z.lt_trichotomy other n) as [T|[T|T]]; [|lia|].
  - destruct L as [->|L]; [lia|].
    pose proof (M other (n - 1) ltac:(lia)). pose proof (S (n - 1) n ltac:(lia)).
    unfold Rabs.
    destruct (Rcase_abs (y - IZR (element n))), (Rcase_abs (y - IZR (element other))); lra.
  - pose proof (M (n + 1) other ltac:(lia)). pose proof (S n (n + 1) ltac:(lia)).
    unfold Rabs.
    destruct (Rcase_abs (y - IZR (element n))), (Rcase_abs (y - IZR (element other))); lra.
Qed.

(* A double is an element plus `rest` of its units. What is farther from it than `margin` cannot
   have another nearest element. *)
Lemma certain n rest margin y :
  0 <= n -> -half <= rest < half -> 0 <= n * spacing + rest ->
  (0 <= margin)%R ->
  let v := magnitude (n * spacing + rest) in
  let nearer := if rest <? 0 then half + rest else half - rest in (* units to a midpoint *)
  (margin * 9007199254740992 <= IZR nearer * IZR v)%R ->
  (0 <= y)%R -> (Rabs (y - IZR v) < margin)%R -> nearest y n.
Proof.
  intros N R B M0 v nearer M Y D.
  pose proof half_positive as H1. pose proof two_halves as H2. destruct octave as [q [Q Q1]].
  apply Rabs_def2 in D. destruct D as [D1 D2].
  assert (Hk : half <= 2^50) by (apply Z.pow_le_mono_r; lia).
  destruct (neighbours n N) as [E [f [E0 [f0 [fS En]]]]].
  pose proof (weight_positive E) as W.
  assert (En1 : element n = base E + f * weight E)
    by (unfold element; rewrite En; apply magnitude_in; lia).
  assert (En2 : element (n + 1) = base E + (f + spacing) * weight E).
  { unfold element. replace ((n + 1) * spacing) with (E * 2^52 + (f + spacing)) by lia.
    apply magnitude_in; lia. }
  assert (B0 : 0 <= base E < 2^53 * weight E /\ base E <= 2^52 * weight E)
    by (unfold base; destruct (E =? 0); lia).
  destruct (Z.ltb_spec rest 0) as [Neg|Pos].
  - (* Below the element, in the octave of the one before. *)
    destruct (neighbours (n - 1) ltac:(nia)) as [E' [f' [E0' [f0' [fS' En']]]]].
    pose proof (weight_positive E') as W'.
    assert (A1 : element (n - 1) = base E' + f' * weight E')
      by (unfold element; rewrite En'; apply magnitude_in; lia).
    assert (A2 : element n = base E' + (f' + spacing) * weight E').
    { unfold element. replace (n * spacing) with (E' * 2^52 + (f' + spacing)) by lia.
      apply magnitude_in; lia. }
    assert (Vv : v = base E' + (f' + spacing + rest) * weight E').
    { unfold v. replace (n * spacing + rest) with (E' * 2^52 + (f' + spacing + rest)) by lia.
      apply magnitude_in; lia. }
    assert (B' : base E' <= 2^52 * weight E')
      by (unfold base; destruct (E' =? 0); lia).
    assert (Vs : v < 2^53 * weight E') by nia.
    assert (WE : weight E' <= weight E).
    { unfold weight. apply Z.pow_le_mono_r; [lia|]. nia. }
    assert (m1 : (margin <= IZR nearer * IZR (weight E'))%R).
    { apply IZR_lt in Vs. rewrite mult_IZR in Vs. change (2^53)%Z with 9007199254740992%Z in Vs.
      assert (0 <= IZR nearer)%R by (apply IZR_le; unfold nearer; lia). nra. }
    assert (V2 : v = element n + rest * weight E') by lia.
    assert (N2 : element (n + 1) = element n + spacing * weight E) by lia.
    assert (S2 : spacing * weight E' <= spacing * weight E)
      by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (R2 : rest * weight E' <= 0) by (apply Z.mul_nonpos_nonneg; lia).
    assert (U : element n + element (n + 1) >= 2 * v + 2 * nearer * weight E')
      by (unfold nearer; lia).
    assert (L : element (n - 1) + element n = 2 * v - 2 * nearer * weight E')
      by (unfold nearer; nia).
    apply between; try assumption.
    + right. rewrite L, minus_IZR, !mult_IZR. lra.
    + apply Z.ge_le, IZR_le in U. rewrite plus_IZR, !mult_IZR in U. rewrite plus_IZR in *. lra.
  - (* Above the element, in its octave. *)
    assert (Vv : v = base E + (f + rest) * weight E).
    { unfold v. replace (n * spacing + rest) with (E * 2^52 + (f + rest)) by lia.
      apply magnitude_in; lia. }
    assert (Vs : v < 2^53 * weight E) by nia.
    assert (m1 : (margin <= IZR nearer * IZR (weight E))%R).
    { apply IZR_lt in Vs. rewrite mult_IZR in Vs. change (2^53)%Z with 9007199254740992%Z in Vs.
      assert (0 <= IZR nearer)%R by (apply IZR_le; unfold nearer; lia). nra. }
    assert (U : element n + element (n + 1) = 2 * v + 2 * nearer * weight E)
      by (unfold nearer; nia).
    apply between; try assumption.
    + destruct (Z.eq_dec n 0) as [->|Nz]; [left; reflexivity | right].
      destruct (neighbours (n - 1) ltac:(nia)) as [E' [f' [E0' [f0' [fS' En']]]]].
      pose proof (weight_positive E') as W'.
      assert (A1 : element (n - 1) = base E' + f' * weight E')
        by (unfold element; rewrite En'; apply magnitude_in; lia).
      assert (A2 : element n = base E' + (f' + spacing) * weight E').
      { unfold element. replace (n * spacing) with (E' * 2^52 + (f' + spacing)) by lia.
        apply magnitude_in; lia. }
      assert (Cases : weight E' = weight E \/
          (weight E = 2 * weight E' /\ base E = 2^52 * weight E /\ f = 0)).
      { destruct (Z.eq_dec E' E) as [->|Ne]; [left; reflexivity|].
        assert (E = E' + 1 /\ f = 0) as [-> ->] by nia.
        destruct (weight_next E' E0') as [X|[X X2]]; [left; lia | right; lia]. }
      (* 2 v less the sum of both elements *)
      assert (G : element (n - 1) + element n = 2 * v - 2 * rest * weight E - 2 * half * weight E')
        by nia.
      rewrite G, !minus_IZR, !mult_IZR.
      assert (0 <= IZR rest)%R by (apply IZR_le; lia).
      assert (1 <= IZR half)%R by (apply IZR_le; lia).
      assert (0 < IZR (weight E))%R by (apply IZR_lt; lia).
      assert (NR : IZR nearer = (IZR half - IZR rest)%R)
        by (unfold nearer; rewrite minus_IZR; reflexivity).
      destruct Cases as [C|[C [C2 C3]]].
      * rewrite C. nra.
      * (* The octave below has half the spacing. *)
        assert (V2 : IZR v = ((4503599627370496 + IZR rest) * IZR (weight E))%R).
        { rewrite Vv, C2, C3. rewrite plus_IZR, !mult_IZR, plus_IZR.
          change (2^52)%Z with 4503599627370496%Z. ring. }
        assert (C' : (IZR (weight E') = IZR (weight E) / 2)%R)
          by (rewrite C, mult_IZR; lra).
        rewrite C', NR, V2 in *.
        assert (IZR half <= 1125899906842624)%R by (apply IZR_le; lia).
        assert (IZR rest <= IZR half)%R by (apply IZR_le; lia).
        set (h := IZR half) in *. set (r := IZR rest) in *. set (w := IZR (weight E)) in *.
        assert ((h - r) * (4503599627370496 + r) <= 9007199254740992 * (r + h / 2))%R by nra.
        nra.
    + rewrite U, plus_IZR, !mult_IZR. lra.
Qed.
End Elements.
