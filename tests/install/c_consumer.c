/* A program in C99 that uses an installed posenc: the layout of every struct, a table, an error
 * message and a rotary embedding. */
#include <posenc/c_api.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define REQUIRE(condition)                                                    \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "c_consumer: line %d: %s (%s)\n", __LINE__, #condition, \
              posenc_last_error());                                           \
      return 1;                                                               \
    }                                                                         \
  } while (0)

/* A member at another place would break programs that are already compiled. */
static int has_stated_layout(void) {
  return offsetof(posenc_spec, d_model) == 8 && offsetof(posenc_spec, base) == 16 &&
         offsetof(posenc_spec, layout) == 24 && offsetof(posenc_spec, spacing) == 28 &&
         offsetof(posenc_spec, frequencies) == 32 && offsetof(posenc_spec, values) == 40 &&
         offsetof(posenc_spec, count) == 48 && sizeof(posenc_spec) == 56 &&
         offsetof(posenc_config_options, rows) == 8 &&
         offsetof(posenc_config_options, layers) == 16 &&
         offsetof(posenc_config_options, types) == 24 &&
         offsetof(posenc_config_options, channels) == 32 && sizeof(posenc_config_options) == 40 &&
         offsetof(posenc_table, rows) == 8 &&
         offsetof(posenc_table, columns) == 16 && offsetof(posenc_table, stride) == 24 &&
         offsetof(posenc_table, type) == 32 && sizeof(posenc_table) == 40 &&
         offsetof(posenc_options, threads) == 8 && offsetof(posenc_options, stores) == 12 &&
         sizeof(posenc_options) == 16 && offsetof(posenc_accuracy, most) == 8 &&
         offsetof(posenc_accuracy, measure) == 16 && sizeof(posenc_accuracy) == 24 &&
         offsetof(posenc_sequences, batch) == 8 && offsetof(posenc_sequences, row_stride) == 40 &&
         offsetof(posenc_sequences, order) == 48 && offsetof(posenc_sequences, type) == 52 &&
         sizeof(posenc_sequences) == 56 && offsetof(posenc_forward_options, offset) == 8 &&
         offsetof(posenc_forward_options, seed) == 16 &&
         offsetof(posenc_forward_options, training) == 24 &&
         offsetof(posenc_forward_options, threads) == 28 &&
         offsetof(posenc_forward_options, stores) == 32 && sizeof(posenc_forward_options) == 40 &&
         offsetof(posenc_positions, first) == 8 && offsetof(posenc_positions, rows) == 16 &&
         offsetof(posenc_positions, axes) == 24 && offsetof(posenc_positions, axis_stride) == 32 &&
         offsetof(posenc_positions, type) == 40 && sizeof(posenc_positions) == 48 &&
         offsetof(posenc_heads, batch) == 8 && offsetof(posenc_heads, heads) == 16 &&
         offsetof(posenc_heads, rows) == 24 && offsetof(posenc_heads, columns) == 32 &&
         offsetof(posenc_heads, batch_stride) == 40 && offsetof(posenc_heads, row_stride) == 56 &&
         offsetof(posenc_heads, type) == 64 && sizeof(posenc_heads) == 72 &&
         offsetof(posenc_rotate_options, threads) == 8 &&
         offsetof(posenc_rotate_options, inverse) == 12 && sizeof(posenc_rotate_options) == 16;
}

int main(void) {
  enum { rows = 100, columns = 64 };
  static float values[rows][columns];
  posenc_spec spec = posenc_default_spec(columns);
  const posenc_options options = {.size = sizeof(posenc_options), .threads = 2};
  const posenc_table out = {values, rows, columns, columns, POSENC_FLOAT32, 0};
  const posenc_heads heads = {values, 1, 1, rows, columns, 0, 0, columns, POSENC_FLOAT32, 0};
  const posenc_positions positions = {NULL, 0, rows, 0, 0, POSENC_RANGE, 0};
  posenc_encoder* encoder = NULL;
  posenc_rotary* rotary = NULL;

  REQUIRE(has_stated_layout());
  REQUIRE(posenc_c_abi() == POSENC_C_ABI);
  REQUIRE(strlen(posenc_version()) > 0 && posenc_backend_name(0) != NULL);

  REQUIRE(posenc_plan("rotation", &spec, &encoder) == POSENC_OK);
  REQUIRE(posenc_encode(encoder, 0, rows, &out, &options) == POSENC_OK);
  REQUIRE(values[0][0] == 0.0f && values[0][1] == 1.0f);
  REQUIRE(fabs((double)values[1][0] - sin(1.0)) <= ldexp(1.0, -25));

  REQUIRE(posenc_encode(encoder, -9007199254740993, rows, &out, NULL) == POSENC_INVALID_ARGUMENT);
  REQUIRE(strstr(posenc_last_error(), "-9007199254740993") != NULL);

  spec.frequencies = "llama3:factor=4";
  REQUIRE(posenc_rotary_create(&spec, POSENC_ROTARY_HALVES, NULL, &rotary) == POSENC_OK);
  REQUIRE(posenc_rotary_apply(rotary, &heads, 1, &positions, NULL) == POSENC_OK);

  posenc_rotary_free(rotary);
  posenc_encoder_free(encoder);
  return 0;
}
