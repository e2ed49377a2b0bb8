/// @file
/// The C interface, in C99, for programs in C and for the foreign function interfaces of other
/// languages.
///
///     posenc_spec spec = posenc_default_spec(512);
///     posenc_encoder *encoder = NULL;
///     if (posenc_plan("rotation", &spec, &encoder) != POSENC_OK) puts(posenc_last_error());
///     posenc_table out = {values, 5000, 512, 512, POSENC_FLOAT32, 0};
///     posenc_encode(encoder, 0, 5000, &out, NULL);
///     posenc_encoder_free(encoder);
///
/// Errors: a function that can fail returns a status. If it is not POSENC_OK, nothing was written,
/// and posenc_last_error() names the argument, its value and the allowed values. No exception
/// leaves a function.
///
/// Threads: encoders, layers and rotary embeddings are immutable, so any number of threads may use
/// the same object. Two threads must not use a cursor at the same time, and no thread may free an
/// object that another thread uses.
///
/// ABI: structs have the members and the order shown here, without padding. Enumerators keep their
/// values. As long as POSENC_C_ABI stays the same, functions and members of sized structs may be
/// added, but none are changed. A program that loads a shared library should compare posenc_c_abi()
/// with POSENC_C_ABI.
///
/// Sized structs: specs and options begin with their size, so that newer versions can add members
/// at the end. Set `size` to sizeof the struct. In all other members, 0 means the default, unless
/// the comment of the member says what is allowed:
///
///     posenc_options options = {.size = sizeof(posenc_options), .threads = 4};
///
/// Members beyond `size` have their defaults. A larger struct than this version knows is accepted
/// if the unknown members are 0. Views of memory, such as posenc_table, have no size: they do not
/// grow, and posenc_rotary_apply() takes an array of them.
///
/// The C++ headers that each section names state the exact contracts.
#ifndef POSENC_C_API_H
#define POSENC_C_API_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Status and version ------------------------------------------------------------------------

/// This number changes if a struct, an enumerator or a function changes.
#define POSENC_C_ABI 5

/// POSENC_OK, or the reason why a call failed.
typedef int32_t posenc_status;
enum {
  POSENC_OK = 0,                ///< done
  POSENC_INVALID_ARGUMENT = 1,  ///< posenc_last_error() names the argument
  POSENC_OUT_OF_MEMORY = 2,     ///< nothing was written
  POSENC_INTERNAL_ERROR = 3     ///< a bug of the library
};

/// The reason for the last failure in this thread: one line, valid until the next failure in this
/// thread. Empty if nothing failed. Never null.
const char* posenc_last_error(void);
/// The version of the library, such as "0.2.0".
const char* posenc_version(void);
/// The value of POSENC_C_ABI that the library was built with.
int32_t posenc_c_abi(void);

/// Objects of the library. A function posenc_..._create() or posenc_plan...() makes an object, and
/// posenc_..._free() frees it. The free functions accept null.
typedef struct posenc_encoder posenc_encoder;            ///< a backend planned for a spec
typedef struct posenc_cursor posenc_cursor;              ///< rows, one at a time
typedef struct posenc_axes posenc_axes;                  ///< the axis of each channel
typedef struct posenc_axes_encoder posenc_axes_encoder;  ///< an encoder for several axes
typedef struct posenc_rotary posenc_rotary;              ///< a rotary embedding
typedef struct posenc_positional_encoding posenc_positional_encoding;  ///< a layer

// ---- What to encode (spec.h, frequency_rule.h, data_type.h) -------------------------------------

/// Layouts: the order of channels in a row.
enum { POSENC_INTERLEAVED = 0, POSENC_HALVES = 1, POSENC_HALVES_COS_FIRST = 2 };
/// Spacings of the frequencies.
enum { POSENC_PAPER = 0, POSENC_INCLUSIVE = 1 };
/// Element types of tables.
enum { POSENC_FLOAT32 = 0, POSENC_FLOAT64 = 1, POSENC_FLOAT16 = 2, POSENC_BFLOAT16 = 3 };

/// The encoding to compute. Texts and arrays are read only during the call.
typedef struct posenc_spec {
  uint64_t size;    ///< sizeof(posenc_spec)
  int64_t d_model;  ///< channels of a row: even, 2 to 2^20
  double base;      ///< finite and > 1; 0 means 10000
  int32_t layout;   ///< POSENC_INTERLEAVED ...
  int32_t spacing;  ///< POSENC_PAPER or POSENC_INCLUSIVE
  /// A rule of frequencies, with the parameters that differ from their defaults, such as "llama3",
  /// "yarn:factor=4,attention_factor=1" or "own:values=1/0.5/0.25". Null means the frequencies of
  /// the base, or `values` if there are any.
  const char* frequencies;
  /// d_model / 2 numbers, or null. If the rule is null or "own", they are the frequencies. If it is
  /// "longrope:attention_factor=1", they divide the frequencies of the base, as ggml's freq_factors
  /// do.
  const double* values;
  int64_t count;  ///< the number of values
} posenc_spec;

/// The paper's convention: base 10000, interleaved.
static inline posenc_spec posenc_default_spec(int64_t d_model) {
  const posenc_spec spec = {sizeof(posenc_spec), d_model, 10000.0, 0, 0, 0, 0, 0};
  return spec;
}

/// The name of a preset, which is the convention of one system, such as "whisper". `index` counts
/// from 0; the result is null if there are no more presets.
const char* posenc_preset_name(int64_t index);
/// Sets the spec to the spec of a preset, and `first` and `rows` to the first position and the
/// number of rows of its usual table. Set spec->size first. `first` and `rows` may be null.
posenc_status posenc_preset(const char* name, posenc_spec* spec, int64_t* first, int64_t* rows);

/// A table in the caller's memory, row-major.
typedef struct posenc_table {
  void* data;        ///< the first element of row 0
  int64_t rows;      ///< at least 0
  int64_t columns;   ///< elements of each row
  int64_t stride;    ///< elements from one row to the next, at least `columns`
  int32_t type;      ///< POSENC_FLOAT32 ...
  int32_t reserved;  ///< 0
} posenc_table;

/// Types of posenc_positions.
enum { POSENC_RANGE = 0, POSENC_INT64 = 1, POSENC_INT32 = 2 };

/// Positions of rows: first, first + 1, ..., or a list. If `axes` is 0, a list has one position per
/// row, which is equal on all axes. Otherwise a row has position data[axis * axis_stride + row] on
/// each axis (axes.h).
typedef struct posenc_positions {
  const void* data;     ///< positions of a list, of the type; ignored for a range
  int64_t first;        ///< first position of a range; ignored for a list
  int64_t rows;         ///< number of positions on each axis
  int64_t axes;         ///< number of axes of a list, or 0; ignored for a range
  int64_t axis_stride;  ///< elements from one axis to the next; ignored if axes is 0
  int32_t type;         ///< POSENC_RANGE, POSENC_INT64 or POSENC_INT32
  int32_t reserved;     ///< 0
} posenc_positions;

/// How results are stored (encode_options.h).
enum { POSENC_STORES_AUTOMATIC = 0, POSENC_STORES_CACHED = 1, POSENC_STORES_NON_TEMPORAL = 2 };

/// How a call is executed. Results do not depend on these options. A null pointer means the
/// defaults.
typedef struct posenc_options {
  uint64_t size;    ///< sizeof(posenc_options)
  int32_t threads;  ///< at least 1; 0 means 1
  int32_t stores;   ///< POSENC_STORES_AUTOMATIC ...
} posenc_options;

// ---- Encoders (registry.h, selection.h, encoder.h) ----------------------------------------------

/// The full name of a backend that this CPU can run, such as "rotation:avx2". `index` counts from
/// 0; the result is null if there are no more backends.
const char* posenc_backend_name(int64_t index);

/// The measure of an accuracy.
enum { POSENC_CORRECTLY_ROUNDED = 0, POSENC_WITHIN = 1, POSENC_WITHIN_ULP = 2 };

/// The accuracy that a program asks for. A null pointer means correctly rounded.
typedef struct posenc_accuracy {
  uint64_t size;     ///< sizeof(posenc_accuracy)
  double most;       ///< largest error, absolute or in ulp; ignored if correctly rounded
  int32_t measure;   ///< POSENC_CORRECTLY_ROUNDED ...
  int32_t reserved;  ///< 0
} posenc_accuracy;

/// Plans the backend with this name: "rotation", or "rotation:avx2" for one ISA.
posenc_status posenc_plan(const char* backend, const posenc_spec* spec, posenc_encoder** encoder);
/// Plans the fastest backend that promises the accuracy for tables of this type over these rows.
posenc_status posenc_plan_selected(const posenc_spec* spec, int64_t first, int64_t rows,
                                   int32_t type, const posenc_accuracy* accuracy,
                                   posenc_encoder** encoder);
/// Frees the encoder; accepts null. Free the cursors of the encoder first.
void posenc_encoder_free(posenc_encoder* encoder);

/// The full name of the backend, such as "rotation:avx2"; valid as long as the encoder.
const char* posenc_encoder_backend(const posenc_encoder* encoder);

/// Writes rows first .. first + rows - 1 to the first rows of `out`.
posenc_status posenc_encode(const posenc_encoder* encoder, int64_t first, int64_t rows,
                            const posenc_table* out, const posenc_options* options);
/// Writes the rows of these positions to the first rows of `out`. The positions must have one axis.
posenc_status posenc_encode_positions(const posenc_encoder* encoder,
                                      const posenc_positions* positions, const posenc_table* out,
                                      const posenc_options* options);
/// Sets `bound` to a proven upper bound of |entry - exact value| over these rows.
posenc_status posenc_error_bound(const posenc_encoder* encoder, int64_t first, int64_t rows,
                                 int32_t type, double* bound);

// ---- Cursors (cursor.h) -------------------------------------------------------------------------

/// Creates a cursor for rows of this type, from position `first` on. The encoder must outlive it.
posenc_status posenc_cursor_create(const posenc_encoder* encoder, int64_t first, int32_t type,
                                   posenc_cursor** cursor);
/// Moves the cursor to any position.
posenc_status posenc_cursor_seek(posenc_cursor* cursor, int64_t position);
/// Writes the next row to `row`, which has `elements` elements of the cursor's type. The number of
/// elements must be d_model.
posenc_status posenc_cursor_next(posenc_cursor* cursor, void* row, int64_t elements);
void posenc_cursor_free(posenc_cursor* cursor);  ///< accepts null

// ---- Positions on several axes (model/axes.h, model/grid.h) -------------------------------------

/// Arrangements of posenc_axes_create(). In blocks, each axis has the frequencies of the spec for
/// the width of its block. In the other arrangements, the frequencies of the spec run through all
/// pairs (axes.h).
enum {
  POSENC_AXES_IN_BLOCKS = 0,    ///< a block of sizes[axis] channels for each axis
  POSENC_AXES_IN_SECTIONS = 1,  ///< sizes[0] pairs of axis 0, then sizes[1] of axis 1, ...
  POSENC_AXES_INTERLEAVED = 2,  ///< sizes[axis] pairs of each axis, interleaved
  POSENC_AXES_ALTERNATING = 3   ///< sizes[axis] pairs of each axis, axes 1 and 2 alternating
};

/// Creates axes in a usual arrangement. `spec.d_model` has no effect in blocks.
posenc_status posenc_axes_create(int32_t arrangement, const int64_t* sizes, int64_t count,
                                 const posenc_spec* spec, posenc_axes** axes);
void posenc_axes_free(posenc_axes* axes);  ///< accepts null

/// Plans an encoder for tables of this type. The axes may be freed afterwards.
posenc_status posenc_axes_encoder_create(const posenc_axes* axes, int32_t type,
                                         const posenc_accuracy* accuracy,
                                         posenc_axes_encoder** encoder);
/// Writes the rows of these positions to the first rows of `out`.
posenc_status posenc_axes_encode(const posenc_axes_encoder* encoder,
                                 const posenc_positions* positions, const posenc_table* out,
                                 const posenc_options* options);
void posenc_axes_encoder_free(posenc_axes_encoder* encoder);  ///< accepts null

/// Conventions of grids.
enum { POSENC_MAE_GRID = 0, POSENC_SIMPLE_VIT_GRID = 1, POSENC_DETR_GRID = 2 };

/// Writes the encoding of the cell in row r and column c to row r * columns + c of `out`, correctly
/// rounded. d_model is the number of channels of a cell: a multiple of 4.
posenc_status posenc_encode_grid(int32_t convention, int64_t rows, int64_t columns, int64_t d_model,
                                 const posenc_table* out, const posenc_options* options);

// ---- Positional encodings (model/positional_encoding.h) -----------------------------------------

/// Orders of the elements in a batch. The mask of dropout depends on the order.
enum { POSENC_BATCH_FIRST = 0, POSENC_SEQUENCE_FIRST = 1 };

/// A batch of sequences in the caller's memory. Layers compute in float32: 16-bit elements are
/// widened, and results are rounded once.
typedef struct posenc_sequences {
  void* data;            ///< the first element of row 0 of sequence 0
  int64_t batch;         ///< number of sequences
  int64_t rows;          ///< rows of each sequence
  int64_t columns;       ///< elements of each row
  int64_t batch_stride;  ///< elements from one sequence to the next
  int64_t row_stride;    ///< elements from one row to the next
  int32_t order;         ///< POSENC_BATCH_FIRST or POSENC_SEQUENCE_FIRST
  int32_t type;          ///< POSENC_FLOAT32, POSENC_FLOAT16 or POSENC_BFLOAT16
} posenc_sequences;

/// Options of posenc_positional_encoding_forward() and posenc_positional_encoding_backward().
typedef struct posenc_forward_options {
  uint64_t size;     ///< sizeof(posenc_forward_options)
  int64_t offset;    ///< position of the first row
  uint64_t seed;     ///< seed of the dropout mask
  int32_t training;  ///< 1 applies dropout, 0 does not
  int32_t threads;   ///< at least 1; 0 means 1
  int32_t stores;    ///< POSENC_STORES_AUTOMATIC ...
  int32_t reserved;  ///< 0
} posenc_forward_options;

/// Creates the layer y = dropout(x + PE), for positions below max_rows.
posenc_status posenc_positional_encoding_create(const posenc_spec* spec, int64_t max_rows,
                                                double dropout, const posenc_accuracy* accuracy,
                                                posenc_positional_encoding** layer);
/// Writes the output of the layer to y, which may be x itself. Null options mean offset 0, no
/// dropout and one thread.
posenc_status posenc_positional_encoding_forward(const posenc_positional_encoding* layer,
                                                 const posenc_sequences* x,
                                                 const posenc_sequences* y,
                                                 const posenc_forward_options* options);
/// Applies the mask and the scale of dropout to the gradient in place, if `training` is 1.
posenc_status posenc_positional_encoding_backward(const posenc_positional_encoding* layer,
                                                  const posenc_sequences* gradient,
                                                  const posenc_forward_options* options);
void posenc_positional_encoding_free(posenc_positional_encoding* layer);  ///< accepts null

// ---- Rotary position embeddings (model/rotary.h) ------------------------------------------------

/// The channels that frequency k rotates: k and h + k, or 2k and 2k + 1, where h = dimension / 2.
enum { POSENC_ROTARY_HALVES = 0, POSENC_ROTARY_INTERLEAVED = 1 };

/// Creates a rotary embedding on one axis. It rotates the first d_model channels of each head. The
/// layout of the spec has no effect. Cosines and sines are multiplied by the attention factor of
/// the rule of frequencies.
posenc_status posenc_rotary_create(const posenc_spec* spec, int32_t channels,
                                   const posenc_accuracy* accuracy, posenc_rotary** rotary);
/// Creates a rotary embedding for positions on several axes. The layout of the axes has no effect,
/// and the axes may be freed afterwards. Cosines and sines are multiplied by the attention factor;
/// 1 means none.
posenc_status posenc_rotary_create_with_axes(const posenc_axes* axes, int32_t channels,
                                             double attention_factor,
                                             const posenc_accuracy* accuracy,
                                             posenc_rotary** rotary);

/// The channels that a model rotates: the channels of its model type, or the channels that a
/// converter of the weights chose. llama.cpp, for example, interleaves the channels of Llama.
enum { POSENC_MODEL_CHANNELS = 0, POSENC_MODEL_HALVES = 1, POSENC_MODEL_INTERLEAVED = 2 };

/// How a config.json is read (model/rotary_config.h). A null pointer means the defaults.
typedef struct posenc_config_options {
  uint64_t size;       ///< sizeof(posenc_config_options)
  int64_t rows;        ///< length of the longest sequence; 0 means the length that the text gives
  const char* layers;  ///< kind of layers, "sliding_attention"; null if all layers are alike
  const char* types;   ///< JSON that describes further model types; null if there are none
  int32_t channels;    ///< POSENC_MODEL_CHANNELS ...
  int32_t reserved;    ///< 0
} posenc_config_options;

/// Creates the rotary embedding of a model. `config` is the text of its config.json.
posenc_status posenc_rotary_create_from_config(const char* config,
                                               const posenc_config_options* options,
                                               const posenc_accuracy* accuracy,
                                               posenc_rotary** rotary);

/// The number of rotated channels of a head, which is the number of columns of a cache; 0 for null.
int64_t posenc_rotary_dimension(const posenc_rotary* rotary);
/// The channels that are rotated: POSENC_ROTARY_HALVES ...; -1 for null.
int32_t posenc_rotary_channels(const posenc_rotary* rotary);
/// The factor of cosines and sines, which caches and rotated heads include; 0 for null.
double posenc_rotary_attention_factor(const posenc_rotary* rotary);
/// The factor by which an engine must multiply the usual scale of the softmax, 1 / sqrt(channels of
/// a query). Models with latent attention that use YaRN have such a factor. No function here
/// applies it. The result is 1 if there is no such factor, and 0 for null.
double posenc_rotary_softmax_factor(const posenc_rotary* rotary);
/// Returns beta, and sets *trained_rows unless the pointer is null. An engine must multiply the
/// rotated query at position p by 1 + beta ln(1 + floor(p / *trained_rows)), as in Ministral 3. The
/// result is 0 if queries are not scaled.
double posenc_rotary_query_beta(const posenc_rotary* rotary, int64_t* trained_rows);
/// One line: dimension, base and rule. For a model, also the kinds of layers, the layers without a
/// rotary embedding, and additional steps of the model. Valid as long as the rotary embedding.
const char* posenc_rotary_description(const posenc_rotary* rotary);

/// Forms of a cache of cosines and sines, where h = dimension / 2. A single table has 2h columns:
/// the cosine and the sine of frequency k are in columns k and h + k, or in columns 2k and 2k + 1.
/// Otherwise one table holds the cosines, and another table holds the sines. Each of these tables
/// has every value once, in h columns, or twice, in columns k and h + k, or 2k and 2k + 1.
enum {
  POSENC_CACHE_HALVES = 0,
  POSENC_CACHE_INTERLEAVED = 1,
  POSENC_CACHE_APART_ONCE = 2,
  POSENC_CACHE_APART_HALVES = 3,
  POSENC_CACHE_APART_INTERLEAVED = 4
};

/// Writes the cosines and sines of these positions to `cache`, a table of any type. If the form
/// keeps them apart, the sines go to `sines`, a table of the same type; otherwise `sines` is null.
posenc_status posenc_rotary_cache(const posenc_rotary* rotary, const posenc_positions* positions,
                                  int32_t form, const posenc_table* cache,
                                  const posenc_table* sines, const posenc_options* options);

/// Queries or keys: each row of each sequence has several heads.
typedef struct posenc_heads {
  void* data;            ///< the first channel of head 0, row 0 and sequence 0
  int64_t batch;         ///< number of sequences
  int64_t heads;         ///< heads of each row
  int64_t rows;          ///< rows of each sequence
  int64_t columns;       ///< channels of a head
  int64_t batch_stride;  ///< elements from one sequence to the next
  int64_t head_stride;   ///< elements from one head to the next
  int64_t row_stride;    ///< elements from one row to the next
  int32_t type;          ///< POSENC_FLOAT32, POSENC_FLOAT16 or POSENC_BFLOAT16
  int32_t reserved;      ///< 0
} posenc_heads;

/// Options of posenc_rotary_apply(). A null pointer means the defaults.
typedef struct posenc_rotate_options {
  uint64_t size;    ///< sizeof(posenc_rotate_options)
  int32_t threads;  ///< at least 1; 0 means 1
  int32_t inverse;  ///< 1 rotates by the opposite angles, 0 does not
} posenc_rotate_options;

/// Rotates `count` tensors in place, such as queries and keys, which have the same batch and rows.
/// There is a position for each row, or a position for each row of each sequence. In the second
/// case, position b * rows + r belongs to row r of sequence b.
posenc_status posenc_rotary_apply(const posenc_rotary* rotary, const posenc_heads* x, int64_t count,
                                  const posenc_positions* positions,
                                  const posenc_rotate_options* options);
void posenc_rotary_free(posenc_rotary* rotary);  ///< accepts null

#ifdef __cplusplus
}
#endif

#endif
