(* claim: rotation32: an entry
   constant: Rotation32Error.total
   unit: 2^-24
   bound: 3.74358 4.83755
   modes: fused unfused
   source: simd/rotation32/rotation32-inl.h
   formula: const F32 u = factors[i + k] * a.sine;
   formula: sums[k] = fused(values[i + k], a.cosine, u);
   formula: differences[k] = fused_minus(values[i + k], a.cosine, u);
   formula: store_vector<non_temporal>(clamp_to_one(first), to);
   formula: store_vector<non_temporal>(clamp_to_one(second), to + float_lanes);

   The row at an angle a above the centre theta; below it, a is negative. The cosine's value and
   factor are those of the sine at theta + pi / 2. No value, factor or entry of the table is larger
   than 1 (centre.cc), and neither are products. *)
From Coq Require Import Reals Lra Psatz.
From Lemmas Require Import angles.
Open Scope R_scope.

Section Addition.
Let u := 0x1p-24.
Let centre := @{constant("Rotation32Error.centre")}.
Let angle := @{constant("Rotation32Error.angle")}.
Variables theta a value factor cosine sine product other_product sum result : R.
Hypothesis value_near : Rabs (value - sin theta) <= centre * u.
Hypothesis factor_near : Rabs (factor - cos theta) <= centre * u.
Hypothesis cosine_near : Rabs (cosine - cos a) <= angle * u.
Hypothesis sine_near : Rabs (sine - sin a) <= angle * u.
(* Roundings of numbers up to 1. A fused operation does not round the other product. *)
Hypothesis product_near : Rabs (product - factor * sine) <= u / 2.
Hypothesis other_near : Rabs (other_product - value * cosine) <= @{0 if fused else "u / 2"}.
Hypothesis exact_sum : sum = other_product + product.
(* The sum is rounded, and then no larger than 1. *)
Hypothesis stored : Rabs sum <= 1 -> Rabs (result - sum) <= u / 2.
Hypothesis clamped_above : 1 < sum -> result = 1.
Hypothesis clamped_below : sum < -1 -> result = -1.

Theorem entry : Rabs (result - sin (theta + a)) <= @{bound} * u.
Proof.
  set (dv := value - sin theta) in *. set (df := factor - cos theta) in *.
  set (dc := cosine - cos a) in *. set (ds := sine - sin a) in *.
  pose proof (in_direction dv df _ a value_near factor_near) as C1.
  pose proof (in_direction ds dc _ theta sine_near cosine_near) as C2.
  pose proof (product_of_small _ _ _ _ value_near cosine_near) as C3.
  pose proof (product_of_small _ _ _ _ factor_near sine_near) as C4.
  (* The sum, before it is rounded. *)
  assert (S : sum - sin (theta + a) = (dv * cos a + df * sin a) + (ds * cos theta + dc * sin theta)
      + dv * dc + df * ds + (product - factor * sine) + (other_product - value * cosine))
    by (rewrite sin_plus, exact_sum; unfold dv, df, dc, ds; ring).
  pose proof (SIN_bound (theta + a)) as M.
  apply parts in C1, C2, C3, C4, product_near, other_near.
  apply Rabs_le. unfold centre, angle, u in *.
  destruct (Rle_dec sum 1) as [I|I]; [|rewrite clamped_above by lra; lra].
  destruct (Rle_dec (-1) sum) as [J|J]; [|rewrite clamped_below by lra; lra].
  pose proof (stored (Rabs_le _ _ (conj J I))) as R. apply parts in R. lra.
Qed.
End Addition.
