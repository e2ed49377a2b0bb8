(* claim: rounding: float32, values that are certain
   source: simd/rotation/rounding-inl.h
   formula: const U64 half(std::uint64_t{1} << 28);
   formula: const U64 a_shifted = (a_bits + half) << 3, b_shifted = (b_bits + half) << 3;
   formula: const F32 magnitude = high_halves(a_shifted, b_shifted);
   formula: const I32 distance = cast_bits<I32>(low_halves(a_shifted, b_shifted));
   formula: static constexpr double value_scale = 0x1p-896;

   If the exact value is nearer to the double v than |distance| v 2^-56, its nearest float32 is the
   one that is stored. 2^-896 makes the exponent of a double that of a float32, also where both are
   subnormal: the bits of the double are those of the float32, and 29 more. *)
From Coq Require Import ZArith Reals Lra Lia Psatz.
From Lemmas Require Import nearest.
Open Scope Z_scope.

(* The upper half of 64 bits, and the lower half as a signed number. *)
Definition shifted (bits : Z) := (bits + 2^28) * 8.
Definition stored (bits : Z) := shifted bits / 2^32.
Definition distance (bits : Z) := (shifted bits + 2^31) mod 2^32 - 2^31.

Theorem float32 bits y :
  0 <= bits < 2^63 - 2^28 -> (0 <= y)%R ->
  let v := IZR (magnitude bits) in
  (Rabs (y - v) < IZR (Z.abs (distance bits)) * v * /72057594037927936)%R -> (* 2^-56 *)
  nearest 29 y (stored bits).
Proof.
  intros B Y v D.
  set (n := stored bits). set (rest := bits - n * 2^29).
  assert (N : n = (bits + 2^28) / 2^29).
  { unfold n, stored, shifted. replace (2^32) with (2^29 * 8) by reflexivity.
    rewrite Z.div_mul_cancel_r by lia. reflexivity. }
  pose proof (Z.div_mod (bits + 2^28) (2^29) ltac:(lia)) as DM.
  pose proof (Z.mod_pos_bound (bits + 2^28) (2^29) ltac:(lia)) as MB.
  assert (N0 : 0 <= n) by (rewrite N; apply Z.div_pos; lia).
  assert (R : -2^28 <= rest < 2^28) by (unfold rest; lia).
  assert (E : distance bits = 8 * (if rest <? 0 then 2^28 + rest else rest - 2^28)).
  { unfold distance, shifted.
    destruct (Z.ltb_spec rest 0) as [H|H].
    - replace ((bits + 2^28) * 8 + 2^31) with (8 * (2^28 + rest) + 2^31 + n * 2^32)
        by (unfold rest; lia).
      rewrite Z.mod_add, Z.mod_small by lia. lia.
    - replace ((bits + 2^28) * 8 + 2^31) with (8 * (rest - 2^28) + 2^31 + (n + 1) * 2^32)
        by (unfold rest; lia).
      rewrite Z.mod_add, Z.mod_small by lia. lia. }
  assert (V0 : (0 <= v)%R).
  { apply IZR_le. apply Z.le_trans with (magnitude 0); [discriminate|].
    apply magnitude_increases. lia. }
  apply (certain 29 ltac:(lia) n rest (IZR (Z.abs (distance bits)) * v * /72057594037927936));
    replace (n * 2^29 + rest) with bits by (unfold rest; lia); try assumption; try lia.
  - assert (0 <= IZR (Z.abs (distance bits)))%R by (apply IZR_le; lia).
    apply Rmult_le_pos; [apply Rmult_le_pos; assumption | lra].
  - fold v. replace (Z.abs (distance bits))
      with (8 * (if rest <? 0 then 2^(29 - 1) + rest else 2^(29 - 1) - rest)).
    + rewrite mult_IZR. apply Req_le. field.
    + rewrite E. destruct (Z.ltb_spec rest 0); lia.
Qed.
