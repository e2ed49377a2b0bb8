(* claim: rounding: values of 128 bits, to every type
   source: exact/sincos.cpp
   formula: rest = dropped < 128 ? value.mantissa & (bit(dropped) - 1) : value.mantissa;
   formula: const uint128 half = dropped < 129 ? bit(dropped - 1) : 0;
   formula: const uint128 distance = dropped < 129 && rest > half ? rest - half : half - rest;
   formula: const int error = std::max(128 - precision, log2_phase_error - value.exponent) + 1;
   formula: return error < 127 && distance > bit(error);

   The mantissa keeps all but its lowest `dropped` bits. What is nearer to it than 2^error units has
   the same nearest element if the distance from the midpoint in the mantissa's octave exceeds
   2^error. Just above a power of two, a midpoint of the octave below is half as far from it. *)
From Coq Require Import ZArith Reals Lra Lia Psatz.
Open Scope Z_scope.

Section Value.
Variables mantissa dropped error : Z.
Variable y : R. (* the exact value, in units of the mantissa *)
Hypothesis normalised : 2^127 <= mantissa < 2^128.
Hypothesis bits : 2 <= dropped <= 129.
Hypothesis error_bits : 0 <= error < 127.
Let spacing := 2^dropped.
Let half := 2^(dropped - 1).
Let rest := mantissa mod spacing.
Let below := mantissa - rest. (* the element that is not above it *)
Hypothesis certain : 2^error < Z.abs (half - rest).
Hypothesis near : (Rabs (y - IZR mantissa) < IZR (2^error))%R.

(* The elements next to `below` are at a distance of spacing, but for the one below a power of
   two, which is half as far away; so are the midpoints. *)
Theorem exact_value :
  if rest <? half then
    (IZR (below - (if below =? 2^127 then 2^(dropped - 2) else half)) < y < IZR (below + half))%R
  else (IZR (below + half) < y < IZR (below + spacing + half))%R.
Proof.
  assert (S : spacing = 2 * half).
  { unfold spacing, half. replace dropped with (dropped - 1 + 1) at 1 by lia.
    rewrite Z.pow_add_r by lia. lia. }
  assert (Q : half = 2 * 2^(dropped - 2)).
  { unfold half. replace (dropped - 1) with (dropped - 2 + 1) by lia.
    rewrite Z.pow_add_r by lia. lia. }
  assert (P : 0 < 2^(dropped - 2)) by (apply Z.pow_pos_nonneg; lia).
  pose proof (Z.mod_pos_bound mantissa spacing ltac:(lia)) as M. fold rest in M.
  assert (E : 2^error <= 2^(dropped - 2)).
  { apply Z.pow_le_mono_r; [lia|]. assert (error < dropped - 1); [|lia].
    apply (Z.pow_lt_mono_r_iff 2); lia. }
  apply Rabs_def2 in near. destruct near as [U L].
  destruct (Z.ltb_spec rest half) as [H|H].
  - assert (A : (IZR mantissa + IZR (2^error) <= IZR (below + half))%R)
      by (rewrite <- plus_IZR; apply IZR_le; unfold below; lia).
    assert (B : (IZR (below - (if below =? 2^127 then 2^(dropped - 2) else half))
        <= IZR mantissa - IZR (2^error))%R).
    { rewrite <- minus_IZR. apply IZR_le. unfold below in *.
      destruct (mantissa - rest =? 2^127); lia. }
    lra.
  - assert (A : (IZR (below + half) <= IZR mantissa - IZR (2^error))%R)
      by (rewrite <- minus_IZR; apply IZR_le; unfold below; lia).
    assert (B : (IZR mantissa + IZR (2^error) <= IZR (below + spacing + half))%R)
      by (rewrite <- plus_IZR; apply IZR_le; unfold below; lia).
    lra.
Qed.
End Value.
