(* claim: rounding: anchors to 16-bit types, values that are certain
   modes: fused unfused
   source: simd/rotation/rounding-inl.h
   formula: constexpr std::uint64_t unit = std::uint64_t{1} << (32 - shift);
   formula: const U64 half((std::uint64_t{1} << (47 - shift)) + unit);
   formula: words(high_halves((a_bits + half) << shift, (b_bits + half) << shift));
   formula: least.distance = xsimd::min(least.distance, cast_bits<U32>(rounded << 16));
   formula: return (rounded | (upper_half ^ magnitude)) >> 16;
   formula: is_below(least.distance, U32(2 << 16)) || is_below(least.magnitude, threshold);
   formula: xsimd::max(fused(bound, F32(0x1p-19f), F32(0x1p-44f)), F32(least_normal));
   formula: constexpr float least_normal = std::is_same_v<T, Float16> ? 0x1p-14f : 0.0f;
   formula: using RoundToBFloat16 = RoundTo16Bits<BFloat16, -896, 3>;
   formula: using RoundToFloat16 = RoundTo16Bits<Float16, -944, 6>;

   If the exact value is nearer to the double than one unit of the distance, and the distance is
   neither 0 nor 1, its nearest element is the one that is stored. *)
From Coq Require Import ZArith Reals Lra Lia Psatz.
From Lemmas Require Import nearest.
Open Scope Z_scope.

Section Shift.
Variable shift : Z.
Hypothesis shifts : 3 <= shift <= 6.
Let unit := 2^(32 - shift).
Definition word (bits : Z) := (bits + 2^(47 - shift) + unit) * 2^shift / 2^32.

Theorem sixteen_bits bits y :
  0 <= bits -> (0 <= y)%R -> 2 <= word bits mod 2^16 ->
  let v := IZR (magnitude bits) in
  (Rabs (y - v) < IZR unit * v * /9007199254740992)%R -> (* 2^-53 *)
  nearest (48 - shift) y (word bits / 2^16).
Proof.
  intros B Y C v D.
  assert (U : 2^32 = unit * 2^shift) by (unfold unit; rewrite <- Z.pow_add_r by lia; f_equal; lia).
  assert (U0 : 0 < unit) by (apply Z.pow_pos_nonneg; lia).
  assert (H : 2^(47 - shift) = 2^15 * unit)
    by (unfold unit; rewrite <- Z.pow_add_r by lia; f_equal; lia).
  assert (S : 2^(48 - shift) = 2^16 * unit)
    by (unfold unit; rewrite <- Z.pow_add_r by lia; f_equal; lia).
  assert (P : 0 < 2^shift) by (apply Z.pow_pos_nonneg; lia).
  assert (W : word bits = (bits + 2^15 * unit + unit) / unit)
    by (unfold word; rewrite U, H; apply Z.div_mul_cancel_r; lia).
  set (n := word bits / 2^16) in *. set (c := word bits mod 2^16) in *.
  pose proof (Z.mod_pos_bound (word bits) (2^16) ltac:(lia)) as MB. fold c in MB.
  pose proof (Z.div_mod (word bits) (2^16) ltac:(lia)) as DM. fold n c in DM.
  pose proof (Z.div_mod (bits + 2^15 * unit + unit) unit ltac:(lia)) as DM2. rewrite <- W in DM2.
  pose proof (Z.mod_pos_bound (bits + 2^15 * unit + unit) unit ltac:(lia)) as MB2.
  set (part := (bits + 2^15 * unit + unit) mod unit) in *.
  set (rest := bits - n * 2^(48 - shift)).
  assert (R : rest = (c - 1) * unit + part - 2^15 * unit) by (unfold rest; rewrite S; nia).
  assert (W0 : 0 <= word bits) by (rewrite W; apply Z.div_pos; nia).
  assert (N0 : 0 <= n) by (apply Z.div_pos; lia).
  assert (V0 : (0 <= v)%R).
  { apply IZR_le. apply Z.le_trans with (magnitude 0); [discriminate|].
    apply magnitude_increases. lia. }
  apply (certain (48 - shift) ltac:(lia) n rest (IZR unit * v * /9007199254740992));
    replace (n * 2^(48 - shift) + rest) with bits by (unfold rest; lia); try assumption;
    replace (48 - shift - 1) with (47 - shift) by lia; rewrite ?H.
  - nia.
  - assert (0 <= IZR unit)%R by (apply IZR_le; lia).
    apply Rmult_le_pos; [apply Rmult_le_pos; assumption | lra].
  - fold v.
    assert (L : unit <= (if rest <? 0 then 2^15 * unit + rest else 2^15 * unit - rest))
      by (destruct (rest <? 0); nia).
    apply IZR_le in L. nra.
Qed.
End Shift.

(* A value that is not below its threshold has a unit of the distance that exceeds its error:
   2^-24 of the value for bfloat16, whose shift is 3, and 2^-27 for float16, whose shift is 6. The
   threshold is truncated to 20 bits. *)
Open Scope R_scope.
Definition most_error := @{constant("RotationError.total")} * 0x1p-53.

Lemma bfloat16 M v :
  0 <= M <= 1 -> (M * 0x1p-19 + 0x1p-44) * (1 - 0x1p-19) <= v ->
  most_error * M + 0x1p-70 < v * 0x1p-24.
Proof. unfold most_error. lra. Qed.

Lemma float16 M v : 0 <= M <= 1 -> 0x1p-14 <= v -> most_error * M + 0x1p-70 < v * 0x1p-27.
Proof. unfold most_error. lra. Qed.
