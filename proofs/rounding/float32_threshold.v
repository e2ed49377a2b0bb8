(* claim: rounding: float32, truncation that the threshold leaves room for
   unit: 2^-70
   bound: 0.999998
   modes: fused unfused
   source: simd/rotation/rounding-inl.h
   formula: error_in_units = static_cast<float>(RotationError{fused_rounds_once}.total());
   formula: return fused(bound, F32(8.0f * error_in_units * 1.0001f),
   formula: F32(static_cast<float>(RotationError::truncation * 0x1p56)));
   formula: return cast_bits<U32>(fused(distance, magnitude, threshold));
   formula: return is_below(least, cast_bits<U32>(threshold + threshold));
   formula: return xsimd::abs(distance * magnitude);
   formula: return least < threshold;
   source: simd/rotation/tile-inl.h
   formula: xsimd::min(F32(1.0f), slope * F32(static_cast<float>(run.last_position)));
   formula: return Round::threshold(largest);

   If the margin reaches the threshold, |distance| v 2^-56 exceeds the error of the value, which
   float32.v takes from there. The factor 1.0001 makes up for the roundings of float32: of the
   distance, of the stored magnitude, which is near v, of their product, of the threshold, and of
   the slope, the position and their product, which are the bound of a column. A subnormal
   magnitude is rounded by more, but far below every threshold, which is at least 2^-14. *)
From Coq Require Import Reals Lra Psatz.
From Interval Require Import Tactic.
From Lemmas Require Import angles.
Open Scope R_scope.

Section Threshold.
Let e := 0x1p-24.
Let factor := @{constant("threshold")}.
Let total := @{constant("RotationError.total")}.
Let room := @{constant("RotationError.truncation")} * 0x1p56. (* a power of two *)
Variables exact_bound M distance v product threshold : R.
Variables e1 e2 e3 e4 e5 e6 e7 : R. (* relative roundings *)
Hypothesis roundings : -e <= e1 <= e /\ -e <= e2 <= e /\ -e <= e3 <= e /\ -e <= e4 <= e
  /\ -e <= e5 <= e /\ -e <= e6 <= e /\ -e <= e7 <= e.
Hypothesis bound_of_column : 0 <= exact_bound. (* at least the bound of the values *)
Hypothesis as_computed : M = exact_bound * (1 + e1) * (1 + e2) * (1 + e3).
Hypothesis threshold_as_computed : threshold = (M * factor * (1 + e4) + room) * (1 + e5).
Let size := Rabs distance * v.
Hypothesis positive : 0 <= v.
(* What the kernel compares, before its last rounding: distance and magnitude, both rounded. *)
Hypothesis product_as_computed : product = size * (1 + e6) * (1 + e7).
(* The last operation rounds: a product that reaches the threshold is at least this. *)
Hypothesis certain : threshold * (1 - 0x1p-22) <= product.

Theorem exceeds :
  total * 0x1p-53 * exact_bound + @{bound} * 0x1p-70 <= size * 0x1p-56.
Proof.
  destruct roundings as (E1 & E2 & E3 & E4 & E5 & E6 & E7).
  assert (S : 0 <= size) by (unfold size; pose proof (Rabs_pos distance); nra).
  assert (A : 1 - 0x1p-21 <= (1 + e1) * (1 + e2) * (1 + e3) * (1 + e4))
    by (unfold e in *; interval).
  assert (B : (1 + e6) * (1 + e7) <= 1 + 0x1p-22) by (unfold e in *; interval).
  assert (P : product <= size * (1 + 0x1p-22))
    by (rewrite product_as_computed, Rmult_assoc; apply Rmult_le_compat_l; assumption).
  assert (T : (exact_bound * factor * (1 - 0x1p-21) + room) * (1 - e) <= threshold).
  { rewrite threshold_as_computed.
    replace (M * factor * (1 + e4))
      with (exact_bound * factor * ((1 + e1) * (1 + e2) * (1 + e3) * (1 + e4)))
      by (rewrite as_computed; ring).
    assert (F : 0 <= exact_bound * factor) by (unfold factor; lra).
    set (g := (1 + e1) * (1 + e2) * (1 + e3) * (1 + e4)) in *.
    assert (exact_bound * factor * (1 - 0x1p-21) <= exact_bound * factor * g)
      by (apply Rmult_le_compat_l; assumption).
    assert (0 <= exact_bound * factor * (1 - 0x1p-21)) by lra.
    apply Rmult_le_compat; unfold e, room in *; lra. }
  unfold e, total, factor, room in *. lra.
Qed.
End Threshold.
