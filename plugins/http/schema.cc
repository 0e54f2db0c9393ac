// The JSON Schemas of the plugin's documents, for editors and for people. What they cannot say (a
// header's syntax, fields that exclude each other) is said by spec.cc.

#include "plugins/http/executor.h"

namespace detent::http {

constinit const std::string_view HttpExecutor::kSpecSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "http",
  "description": "One HTTP request. It succeeds with a status of 2xx.",
  "type": "object",
  "additionalProperties": false,
  "required": ["request"],
  "properties": {
    "request": {
      "description": "The request of a HAR 1.2 entry; only url is required.",
      "type": "object", "additionalProperties": false, "required": ["url"],
      "patternProperties": {"^_": {}},
      "properties": {
        "method": {
          "description": "Any method but CONNECT and TRACE; its case is kept.",
          "type": "string", "default": "GET"
        },
        "url": {
          "description": "Absolute, http or https, without user info. A fragment is not sent.",
          "type": "string", "maxLength": 8192
        },
        "httpVersion": {"description": "Ignored: HTTP/1.1 is used.", "type": "string"},
        "headers": {
          "description": "Sent in this order, repetitions kept.",
          "type": "array", "maxItems": 256, "items": {"$ref": "#/$defs/pair"}
        },
        "queryString": {
          "description": "Parameters; those that the URL has already are not added again.",
          "type": "array", "maxItems": 256, "items": {"$ref": "#/$defs/pair"}
        },
        "cookies": {
          "description": "Joined into a Cookie header; those that it has already are not added.",
          "type": "array", "maxItems": 256, "items": {"$ref": "#/$defs/cookie"}
        },
        "postData": {
          "description": "The body: text, or params.",
          "type": "object", "additionalProperties": false, "patternProperties": {"^_": {}},
          "properties": {
            "mimeType": {
              "description": "Sent as Content-Type unless there is such a header.",
              "type": "string"
            },
            "text": {"description": "The body as it stands.", "type": "string"},
            "params": {
              "description": "The body as application/x-www-form-urlencoded.",
              "type": "array", "maxItems": 256, "items": {"$ref": "#/$defs/pair"}
            },
            "comment": {}
          }
        },
        "headersSize": {"description": "Ignored."},
        "bodySize": {"description": "Ignored."},
        "comment": {}
      }
    },
    "timeout": {
      "description": "Seconds, fractions allowed. 0: no limit.",
      "type": "object", "additionalProperties": false,
      "properties": {
        "connectTimeout": {
          "description": "Resolving, connecting, TLS.",
          "type": ["number", "string"], "default": 10
        },
        "readTimeout": {
          "description": "From the end of the request to the beginning of the response.",
          "type": ["number", "string"], "default": 0
        },
        "socketTimeout": {
          "description": "Without a byte in either direction.",
          "type": ["number", "string"], "default": 0
        },
        "totalTimeout": {
          "description": "All of it. Default: 30, or connectTimeout + readTimeout + 30.",
          "type": ["number", "string"]
        }
      }
    },
    "idempotent": {
      "description": "It may be sent again when lost. Default: true unless POST, PATCH or unknown.",
      "type": ["boolean", "string"]
    },
    "response": {
      "type": "object", "additionalProperties": false,
      "properties": {
        "format": {
          "description": "json: fails if the body is not. auto: as its Content-Type says.",
          "type": "string", "default": "auto"
        },
        "maxBytes": {
          "description": "How much of the body is read.",
          "type": ["integer", "string"], "minimum": 1, "maximum": 33554432, "default": 1048576
        }
      }
    }
  },
  "$defs": {
    "pair": {
      "type": "object", "additionalProperties": false, "patternProperties": {"^_": {}},
      "required": ["name", "value"],
      "properties": {"name": {"type": "string"}, "value": {"type": "string"}, "comment": {}}
    },
    "cookie": {
      "type": "object", "additionalProperties": false, "patternProperties": {"^_": {}},
      "required": ["name", "value"],
      "properties": {
        "name": {"type": "string"}, "value": {"type": "string"}, "comment": {},
        "secure": {"description": "Send it over https only.", "type": "boolean", "default": false},
        "path": {}, "domain": {}, "expires": {}, "httpOnly": {}, "sameSite": {}
      }
    }
  }
})json";

constinit const std::string_view HttpExecutor::kConfigSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "http plugin",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "maxConnections": {
      "description": "Requests in flight at a time.",
      "type": "integer", "minimum": 1, "maximum": 4096, "default": 256
    },
    "maxQueued": {
      "description": "Tasks that wait for their turn; further ones are started again later.",
      "type": "integer", "minimum": 0, "maximum": 1000000, "default": 10000
    },
    "userAgent": {
      "description": "Sent where a request has no User-Agent; empty: none.",
      "type": "string", "maxLength": 1024, "default": "detent-http/0.1"
    },
    "freshConnections": {
      "description": "A new connection for each request, closed after it.",
      "type": "boolean", "default": false
    },
    "allow": {
      "description": "Networks that may be reached, such as 10.0.0.0/8; empty: all.",
      "type": "array", "items": {"type": "string"}, "default": []
    },
    "deny": {
      "description": "Networks that must not be reached, even if allowed.",
      "type": "array", "items": {"type": "string"}, "default": []
    }
  }
})json";

}  // namespace detent::http
