(* claim: rotation to 16 bits: distance of a bound from a value, in columns of values up to 1
   constant: RotationTo16BitsError.total
   unit: 2^-24
   bound: 2.41422 3.41422
   modes: fused unfused
   source: simd/rotation/rotation_to_16_bits-inl.h
   formula: static_cast<float>(bracket.total() * float_roundoff * 1.0001);
   formula: static_cast<float>(bracket.width() / bracket.total() * 1.0001);
   formula: fused(tile.factor[i], sin_a, tile.error[i]);
   formula: const F32 sum = fused(tile.value[i], cos_a, u),
   formula: differences.bits[i] = first_bits[i] ^ rounded(first_bound[i] - tile.width[i]);
   formula: differences.bits[2 + i] = second_bits[i] ^ rounded(second_bound[i] + tile.width[i]);

   A row above the centre theta, whose first bound is the upper one. The others are its mirror
   images: of the opposite a, the opposite value, or theta + pi / 2. Both bounds may miss a value
   that is nearer to 1 than 2^-13, but they round to 1, as it does. *)
From Coq Require Import Reals Lra Psatz.
From Lemmas Require Import angles.
Open Scope R_scope.

Section Bracket.
Let u := 0x1p-24.
Let rounded := @{constant("RotationTo16BitsError.rounded")}.
Let total := @{constant("RotationTo16BitsError.total")}.
Let to_second := @{constant("RotationTo16BitsError.width")}.
Variables theta a value factor cosine sine : R.
Variables product other_product error width inner first second : R.
Hypothesis value_near : Rabs (value - sin theta) <= rounded * u.
Hypothesis factor_near : Rabs (factor - cos theta) <= rounded * u.
Hypothesis cosine_near : Rabs (cosine - cos a) <= rounded * u.
Hypothesis sine_near : Rabs (sine - sin a) <= rounded * u.
Hypothesis error_near : total * u <= error <= 1.00011 * total * u.
Hypothesis width_near : 1.00019 * to_second * u <= width <= 0x1p-20.
(* A fused operation does not round a product of numbers up to 1. *)
Hypothesis product_near : Rabs (product - factor * sine) <= @{0 if fused else "u / 2"}.
Hypothesis other_near : Rabs (other_product - value * cosine) <= @{0 if fused else "u / 2"}.
(* Roundings of numbers up to 1. *)
Hypothesis of_inner : Rabs (product + error) <= 1 -> Rabs (inner - (product + error)) <= u / 2.
Hypothesis of_first :
  Rabs (other_product + inner) <= 1 -> Rabs (first - (other_product + inner)) <= u / 2.
Hypothesis of_second : Rabs (first - width) <= 1 -> Rabs (second - (first - width)) <= u / 2.
Hypothesis below_1 : Rabs (sin (theta + a)) <= 1 - 0x1p-13.

Theorem bracket : second <= sin (theta + a) <= first.
Proof.
  destruct (at_most_1 a) as [A1 A2]. destruct (at_most_1 theta) as [T1 T2].
  pose proof (products theta a) as P.
  set (dv := value - sin theta) in *. set (df := factor - cos theta) in *.
  set (dc := cosine - cos a) in *. set (ds := sine - sin a) in *.
  pose proof (in_direction dv df _ a value_near factor_near) as C1.
  pose proof (in_direction ds dc _ theta sine_near cosine_near) as C2.
  pose proof (product_of_small _ _ _ _ value_near cosine_near) as C3.
  pose proof (product_of_small _ _ _ _ factor_near sine_near) as C4.
  (* The product of the factor is below 1, by as much as the value is. *)
  assert (L : Rabs (cos theta * sin a) <= 1 - 0x1p-14).
  { rewrite sin_plus in below_1. apply parts in below_1.
    assert (Rabs (cos theta * sin a) - Rabs (sin theta * cos a) <= 1 - 0x1p-13).
    { unfold Rabs in *.
      destruct (Rcase_abs (sin theta * cos a)), (Rcase_abs (cos theta * sin a)); lra. }
    lra. }
  pose proof (product_of_small _ _ _ _ factor_near A1) as F1.
  pose proof (product_of_small _ _ _ _ sine_near T2) as F2.
  assert (E1 : factor * sine = cos theta * sin a + df * sin a + ds * cos theta + df * ds)
    by (unfold df, ds; ring).
  assert (E2 : factor * sine + value * cosine = sin (theta + a) + (dv * cos a + df * sin a)
      + (ds * cos theta + dc * sin theta) + dv * dc + df * ds)
    by (rewrite sin_plus; unfold dv, df, dc, ds; ring).
  apply parts in C1, C2, C3, C4, L, F1, F2, product_near, other_near, below_1.
  unfold rounded, total, to_second, u in *.
  assert (I : Rabs (product + error) <= 1) by (apply Rabs_le; lra).
  pose proof (of_inner I) as I2. apply parts in I2.
  assert (J : Rabs (other_product + inner) <= 1) by (apply Rabs_le; lra).
  pose proof (of_first J) as J2. apply parts in J2.
  assert (K : Rabs (first - width) <= 1) by (apply Rabs_le; lra).
  pose proof (of_second K) as K2. apply parts in K2. lra.
Qed.
End Bracket.
