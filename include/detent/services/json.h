/* detent/services/json.h: reading JSON without a library.
 *
 * A document is parsed once and is immutable from then on; its nodes are small integers. Nothing
 * here fails loudly on a missing thing: node 0 is "nothing", every accessor takes it, and lookups
 * chain without a test in between:
 *
 *   detent_node env = json->member(doc, json->root(doc), &env_name);
 *   uint64_t n = json->length(doc, env);                            -- 0 if there is no env
 *
 * All functions are [any], also at the same time on one document, and are local in both isolation
 * modes; they may be used with instance 0 in [pure] calls. RFC 8259, strictly: no comments, no
 * trailing bytes, no NaN. Depth <= 128, <= 1,000,000 nodes, <= 32 MiB, else E_TOO_LARGE.
 */
#ifndef DETENT_SERVICES_JSON_H_
#define DETENT_SERVICES_JSON_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_SVC_JSON "detent.json/1"

/* Kinds of a node. */
#define DETENT_JSON_NONE 0u /* no such node */
#define DETENT_JSON_NULL 1u
#define DETENT_JSON_BOOL 2u
#define DETENT_JSON_NUMBER 3u
#define DETENT_JSON_STRING 4u
#define DETENT_JSON_ARRAY 5u
#define DETENT_JSON_OBJECT 6u

/* parse flags */
#define DETENT_JSON_LAST_KEY_WINS (1u << 0) /* else a repeated key is E_INVALID, DuplicateKey */

/* serialise flags */
#define DETENT_JSON_PRETTY (1u << 0) /* two spaces of indentation, else compact */

typedef struct detent_json {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* Parses text into a document that the caller owns (release). E_INVALID: no JSON; a finding with
   * line, column and what was expected goes to diag, which may be NULL. E_TOO_LARGE. */
  detent_status (*parse)(detent_instance inst, const detent_bytes* text, uint32_t flags,
                         detent_doc* out, detent_diag* diag);

  /* Ends the document. Views into it end too. 0 and a second time: nothing happens. */
  void (*release)(detent_doc doc);

  /* The outermost value; 0 if doc has ended. */
  detent_node (*root)(detent_doc doc);

  /* DETENT_JSON_* of a node; NONE for 0. */
  uint32_t (*kind)(detent_doc doc, detent_node node);

  /* Members of an object, elements of an array, else 0. */
  uint64_t (*length)(detent_doc doc, detent_node node);

  /* The member of that name, 0 if node is no object or has none. */
  detent_node (*member)(detent_doc doc, detent_node node, const detent_str* name);

  /* The element of an array, or the value of an object's member in the order of the text, at
   * position i from 0; 0 beyond the end. */
  detent_node (*at)(detent_doc doc, detent_node node, uint64_t i);

  /* The name of an object's member at position i. E_NOT_FOUND: no object, or beyond the end. */
  detent_status (*key_at)(detent_doc doc, detent_node node, uint64_t i, detent_str* out);

  /* RFC 6901 from node: "/items/0/name"; "" is node itself. 0: not there, or no valid pointer. */
  detent_node (*pointer)(detent_doc doc, detent_node node, const detent_str* pointer);

  /* The value, if it is of that kind. E_NOT_FOUND: node 0. E_INVALID: another kind; for i64 and u64
   * also a number that is no integer (1.0 is one, 1.5 is not) or does not fit. str is unescaped and
   * may contain NUL; it is lent until release. boolean gives 0 or 1. */
  detent_status (*str)(detent_doc doc, detent_node node, detent_str* out);
  detent_status (*i64)(detent_doc doc, detent_node node, int64_t* out);
  detent_status (*u64)(detent_doc doc, detent_node node, uint64_t* out);
  detent_status (*f64)(detent_doc doc, detent_node node, double* out);
  detent_status (*boolean)(detent_doc doc, detent_node node, uint32_t* out);

  /* Writes node and what is below it as JSON into a new buffer, with one reference for the caller.
   * Numbers keep the digits of the text they came from where that is exact. E_NOT_FOUND: node 0. */
  detent_status (*serialise)(detent_instance inst, detent_doc doc, detent_node node, uint32_t flags,
                             detent_buf* out);

  /* text as a JSON string, with its quotes, into a new buffer. E_INVALID: not UTF-8. */
  detent_status (*escape)(detent_instance inst, const detent_str* text, detent_buf* out);
} detent_json;

DETENT_EXTERN_C_END

#endif /* DETENT_SERVICES_JSON_H_ */
