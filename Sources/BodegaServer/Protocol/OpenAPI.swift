#if Server
/// The protocol of the server, as a document of OpenAPI 3.1, which `v1/openapi.json` returns. It is written by hand.
let openAPI = #"""
    {
      "openapi": "3.1.0",
      "info": {
        "title": "Emporium",
        "version": "1",
        "description": "Collections of items under keys: items, queries, transactions and changes. A client ignores \#
    members of answers that it does not know.\n\nAn answer of the type application/x-ndjson has an object on each \#
    line. The last one has the member \"end\", or \"error\" with a problem; an answer without it is not complete. \#
    After a line with \"restart\", all lines before it are void.",
        "license": {"name": "MIT", "identifier": "MIT"}
      },
      "servers": [{"url": "/"}],
      "security": [{"token": []}, {}],
      "paths": {
        "/v1/health": {
          "get": {
            "operationId": "health",
            "summary": "Says that the server listens.",
            "security": [],
            "responses": {"204": {"description": "It listens."}}
          },
          "head": {
            "operationId": "checkHealth",
            "summary": "Says that the server listens.",
            "security": [],
            "responses": {"204": {"description": "It listens."}}
          }
        },
        "/v1/ready": {
          "get": {
            "operationId": "ready",
            "summary": "Says whether the server can carry out requests. The answer comes within 2 seconds, and holds \#
    for one.",
            "security": [],
            "responses": {
              "204": {"description": "It reaches its database."},
              "503": {"$ref": "#/components/responses/Problem"}
            }
          },
          "head": {
            "operationId": "checkReadiness",
            "summary": "Says whether the server can carry out requests, without a reason.",
            "security": [],
            "responses": {
              "204": {"description": "It reaches its database."},
              "503": {"description": "It does not. The header Retry-After has the seconds to wait."}
            }
          }
        },
        "/v1/openapi.json": {
          "get": {
            "operationId": "protocol",
            "summary": "Returns this document.",
            "security": [],
            "responses": {
              "200": {"description": "This document.", "content": {"application/json": {"schema": {"type": "object"}}}}
            }
          }
        },
        "/v1/batch": {
          "post": {
            "operationId": "applyBatches",
            "summary": "Changes items of one or several collections, all or none.",
            "parameters": [{"$ref": "#/components/parameters/idempotencyKey"}],
            "requestBody": {
              "required": true,
              "content": {
                "application/json": {
                  "schema": {
                    "type": "object",
                    "required": ["batches"],
                    "additionalProperties": false,
                    "properties": {"batches": {"type": "array", "items": {"$ref": "#/components/schemas/Batch"}}}
                  }
                }
              }
            },
            "responses": {
              "200": {
                "description": "The outcomes, in the order of the batches.",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "required": ["outcomes"],
                      "properties": {"outcomes": {"type": "array", "items": {"$ref": "#/components/schemas/Outcome"}}}
                    }
                  }
                }
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/changes": {
          "post": {
            "operationId": "readChangesTogether",
            "summary": "Returns what has changed in several collections since their cursors, from one moment.",
            "requestBody": {
              "required": true,
              "content": {
                "application/json": {
                  "schema": {
                    "type": "object",
                    "required": ["collections"],
                    "additionalProperties": false,
                    "properties": {
                      "collections": {"type": "array", "items": {"$ref": "#/components/schemas/CollectionChanges"}}
                    }
                  }
                }
              }
            },
            "responses": {
              "200": {
                "description": "\#
    For each collection, in their order: changes, items if they are wanted, and then a line with \"part\" \#
    and a cursor, or \"gap\". The collections must be in one database, and a client that may see only \#
    the items of one that match a filter is refused.",
                "content": {"application/x-ndjson": {"schema": {"type": "string"}}}
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/collections/{collection}": {
          "parameters": [{"$ref": "#/components/parameters/collection"}],
          "get": {
            "operationId": "describe",
            "summary": "Says what a collection can do.",
            "responses": {
              "200": {
                "description": "What it can do.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Description"}}}
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/collections/{collection}/items/{key}": {
          "parameters": [
            {"$ref": "#/components/parameters/collection"},
            {"$ref": "#/components/parameters/key"},
            {"$ref": "#/components/parameters/kind"}
          ],
          "get": {
            "operationId": "readItem",
            "summary": "Reads an item, or a part of it.",
            "parameters": [
              {"$ref": "#/components/parameters/ifMatch"},
              {"$ref": "#/components/parameters/ifNoneMatch"},
              {"$ref": "#/components/parameters/range"},
              {"$ref": "#/components/parameters/ifRange"}
            ],
            "responses": {
              "200": {
                "description": "The item.",
                "headers": {
                  "ETag": {"schema": {"type": "string"}, "description": "A strong tag of the item's bytes."},
                  "Emporium-Created": {
                    "schema": {"type": "integer"},
                    "description": "When the item was first written, in milliseconds since 1970."
                  },
                  "Emporium-Updated": {
                    "schema": {"type": "integer"},
                    "description": "When the item was last written, in milliseconds since 1970."
                  }
                },
                "content": {
                  "application/octet-stream": {
                    "schema": {"type": "string", "contentMediaType": "application/octet-stream"}
                  }
                }
              },
              "206": {
                "description": "The part.",
                "headers": {
                  "Content-Range": {
                    "schema": {"type": "string"}, "description": "The place of the part, such as bytes 0-9/200."
                  },
                  "ETag": {"schema": {"type": "string"}, "description": "A strong tag of the item's bytes."},
                  "Emporium-Created": {
                    "schema": {"type": "integer"},
                    "description": "When the item was first written, in milliseconds since 1970."
                  },
                  "Emporium-Updated": {
                    "schema": {"type": "integer"},
                    "description": "When the item was last written, in milliseconds since 1970."
                  }
                },
                "content": {
                  "application/octet-stream": {
                    "schema": {"type": "string", "contentMediaType": "application/octet-stream"}
                  }
                }
              },
              "304": {
                "description": "The item has the tag of If-None-Match.",
                "headers": {
                  "ETag": {"schema": {"type": "string"}, "description": "A strong tag of the item's bytes."},
                  "Emporium-Created": {
                    "schema": {"type": "integer"},
                    "description": "When the item was first written, in milliseconds since 1970."
                  },
                  "Emporium-Updated": {
                    "schema": {"type": "integer"},
                    "description": "When the item was last written, in milliseconds since 1970."
                  }
                }
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "416": {
                "description": "The item ends before the range.",
                "headers": {
                  "Content-Range": {
                    "schema": {"type": "string"}, "description": "The size of the item, such as bytes */200."
                  }
                },
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          },
          "head": {
            "operationId": "checkItem",
            "summary": "Reads the headers of an item.",
            "parameters": [
              {"$ref": "#/components/parameters/ifMatch"},
              {"$ref": "#/components/parameters/ifNoneMatch"}
            ],
            "responses": {
              "200": {
                "description": "The item exists.",
                "headers": {
                  "ETag": {"schema": {"type": "string"}, "description": "A strong tag of the item's bytes."},
                  "Emporium-Created": {
                    "schema": {"type": "integer"},
                    "description": "When the item was first written, in milliseconds since 1970."
                  },
                  "Emporium-Updated": {
                    "schema": {"type": "integer"},
                    "description": "When the item was last written, in milliseconds since 1970."
                  }
                }
              },
              "304": {
                "description": "The item has the tag of If-None-Match.",
                "headers": {
                  "ETag": {"schema": {"type": "string"}, "description": "A strong tag of the item's bytes."},
                  "Emporium-Created": {
                    "schema": {"type": "integer"},
                    "description": "When the item was first written, in milliseconds since 1970."
                  },
                  "Emporium-Updated": {
                    "schema": {"type": "integer"},
                    "description": "When the item was last written, in milliseconds since 1970."
                  }
                }
              },
              "401": {"description": "A problem, without its body."},
              "4XX": {"description": "A problem, without its body."},
              "5XX": {"description": "A problem, without its body."}
            }
          },
          "put": {
            "operationId": "writeItem",
            "summary": "Writes an item.",
            "parameters": [
              {"$ref": "#/components/parameters/ifMatch"},
              {"$ref": "#/components/parameters/ifNoneMatch"},
              {"$ref": "#/components/parameters/origin"},
              {"$ref": "#/components/parameters/idempotencyKey"}
            ],
            "requestBody": {
              "required": false,
              "description": "The item, whole and not encoded. No body is an empty one.",
              "content": {"*/*": {"schema": {}}}
            },
            "responses": {
              "204": {
                "description": "The item is stored.",
                "headers": {"ETag": {"schema": {"type": "string"}, "description": "A strong tag of the item's bytes."}}
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          },
          "delete": {
            "operationId": "removeItem",
            "summary": "Removes an item, if it exists.",
            "parameters": [
              {"$ref": "#/components/parameters/ifMatch"},
              {"$ref": "#/components/parameters/ifNoneMatch"},
              {"$ref": "#/components/parameters/origin"},
              {"$ref": "#/components/parameters/idempotencyKey"}
            ],
            "responses": {
              "204": {"description": "There is no such item any more."},
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/collections/{collection}/fetch": {
          "parameters": [{"$ref": "#/components/parameters/collection"}],
          "post": {
            "operationId": "fetchItems",
            "summary": "Reads items under some keys, each once.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Fetch"}}}
            },
            "responses": {
              "200": {
                "description": "Items, in the order of the keys, and then a report.",
                "content": {"application/x-ndjson": {"schema": {"type": "string"}}}
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/collections/{collection}/scan": {
          "parameters": [{"$ref": "#/components/parameters/collection"}, {"$ref": "#/components/parameters/limit"}],
          "post": {
            "operationId": "scanItems",
            "summary": "Reads and counts items in an order, from one moment.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Scan"}}}
            },
            "responses": {
              "200": {
                "description": "Items of each scan, and then the numbers.",
                "content": {"application/x-ndjson": {"schema": {"type": "string"}}}
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/collections/{collection}/query": {
          "parameters": [{"$ref": "#/components/parameters/collection"}],
          "post": {
            "operationId": "queryItems",
            "summary": "Reads the items that meet a filter, a page at a time, or counts them. Indexes answer what \#
    they can.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Query"}}}
            },
            "responses": {
              "200": {
                "description": "\#
    The items of the page, and then the text to pass as `after` for the next page, if there is one. Or \#
    the number.",
                "content": {"application/x-ndjson": {"schema": {"type": "string"}}}
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/collections/{collection}/cursor": {
          "parameters": [{"$ref": "#/components/parameters/collection"}],
          "get": {
            "operationId": "readCursor",
            "summary": "Returns the end of the log of changes.",
            "responses": {
              "200": {
                "description": "The cursor.",
                "content": {
                  "application/json": {
                    "schema": {"type": "object", "required": ["cursor"], "properties": {"cursor": {"type": "string"}}}
                  }
                }
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/collections/{collection}/changes": {
          "parameters": [{"$ref": "#/components/parameters/collection"}],
          "post": {
            "operationId": "readChanges",
            "summary": "Returns what has changed since a cursor.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ChangesRequest"}}}
            },
            "responses": {
              "200": {
                "description": "Changes, items if they are wanted, and then a cursor, or \"gap\" if the log does not \#
    reach back to the given one, with \"otherLog\" if that is known to be from another log.",
                "content": {"application/x-ndjson": {"schema": {"type": "string"}}}
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/collections/{collection}/events": {
          "parameters": [
            {"$ref": "#/components/parameters/collection"},
            {"$ref": "#/components/parameters/since"},
            {"$ref": "#/components/parameters/lastEvent"}
          ],
          "get": {
            "operationId": "followChanges",
            "summary": "Streams changes as server-sent events.",
            "description": "The identifier of an event is a cursor. The events are \"begin\", \"changes\" with a list \#
    of changes, and \"gap\" if the log does not reach back to the cursor; read all items then. A comment comes at \#
    least every 15 seconds.",
            "responses": {
              "200": {
                "description": "Events, without an end.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}}
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/collections/{collection}/indexes": {
          "parameters": [{"$ref": "#/components/parameters/collection"}],
          "get": {
            "operationId": "listIndexes",
            "summary": "Lists the indexes.",
            "responses": {
              "200": {
                "description": "The indexes.",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "required": ["indexes"],
                      "properties": {"indexes": {"type": "array", "items": {"$ref": "#/components/schemas/Index"}}}
                    }
                  }
                }
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          },
          "post": {
            "operationId": "createIndex",
            "summary": "Creates an index, unless it exists.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Index"}}}
            },
            "responses": {
              "204": {"description": "The index exists."},
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/collections/{collection}/indexes/remove": {
          "parameters": [{"$ref": "#/components/parameters/collection"}],
          "post": {
            "operationId": "removeIndex",
            "summary": "Removes an index, if it exists.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Index"}}}
            },
            "responses": {
              "204": {"description": "There is no such index."},
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/collections/{collection}/references": {
          "parameters": [{"$ref": "#/components/parameters/collection"}],
          "get": {
            "operationId": "listReferences",
            "summary": "Lists the references to other collections.",
            "responses": {
              "200": {
                "description": "The references.",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "required": ["references"],
                      "properties": {
                        "references": {"type": "array", "items": {"$ref": "#/components/schemas/Reference"}}
                      }
                    }
                  }
                }
              },
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          },
          "put": {
            "operationId": "declareReferences",
            "summary": "Declares the references, in place of all earlier ones. An index over a path, which finds the \#
    items that name a removed one, has to be created by itself.",
            "requestBody": {
              "required": true,
              "content": {
                "application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Reference"}}}
              }
            },
            "responses": {
              "204": {"description": "They are declared."},
              "401": {"$ref": "#/components/responses/Unauthorized"},
              "4XX": {"$ref": "#/components/responses/Problem"},
              "5XX": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
      },
      "components": {
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        "parameters": {
          "collection": {
            "name": "collection",
            "in": "path",
            "required": true,
            "description": "The name of the collection, percent-encoded.",
            "schema": {"type": "string", "minLength": 1}
          },
          "key": {
            "name": "key",
            "in": "path",
            "required": true,
            "description": "The text of the key, percent-encoded. Read an item whose key is empty, \".\" or \"..\" \#
    with fetch.",
            "schema": {"type": "string", "minLength": 1}
          },
          "kind": {
            "name": "kind",
            "in": "query",
            "description": "The kind of the key.",
            "schema": {"$ref": "#/components/schemas/Kind"}
          },
          "limit": {
            "name": "limit",
            "in": "query",
            "description": "The number of items after which the answer ends, with \"partial\" in its last line if \#
    there are more.",
            "schema": {"type": "integer", "minimum": 1, "maximum": 9223372036854775807}
          },
          "since": {
            "name": "since",
            "in": "query",
            "description": "The cursor from which on changes are sent; by default from now on.",
            "schema": {"type": "string"}
          },
          "lastEvent": {
            "name": "Last-Event-ID",
            "in": "header",
            "description": "The same, as a browser sends it.",
            "schema": {"type": "string"}
          },
          "ifMatch": {
            "name": "If-Match",
            "in": "header",
            "description": "Tags of which the item must have one, or *.",
            "schema": {"type": "string"}
          },
          "ifNoneMatch": {
            "name": "If-None-Match",
            "in": "header",
            "description": "Tags of which the item must have none, or *.",
            "schema": {"type": "string"}
          },
          "range": {
            "name": "Range",
            "in": "header",
            "description": "A range of bytes. Several ranges are not supported, and are ignored.",
            "schema": {"type": "string"}
          },
          "ifRange": {
            "name": "If-Range",
            "in": "header",
            "description": "The tag that the item must have for the range to count.",
            "schema": {"type": "string"}
          },
          "idempotencyKey": {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "\#
    A text that distinguishes the request from others of the client, or, if it is a random UUID, of all: \#
    then one whose token was replaced can send the request again. If it was carried out, it is not carried \#
    out again, and if its conditions were not met, it never will be. A request with the key but another \#
    content is refused with the code identifierUsed. \#
    A list of no batches takes the key, so that what comes later with it is refused.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!#-~]+$"}
          },
          "origin": {
            "name": "Emporium-Origin",
            "in": "header",
            "description": "The origin of the change, by which a reader of changes recognizes its own.",
            "schema": {"type": "string", "format": "uuid"}
          }
        },
        "responses": {
          "Problem": {
            "description": "A problem, see RFC 9457. What is no request of HTTP, or has a line or headers that are \#
    too long, is answered with 400 and without a body.",
            "headers": {
              "Allow": {
                "schema": {"type": "string"}, "description": "With the status 405, the methods that the path has."
              },
              "Retry-After": {
                "schema": {"type": "integer"},
                "description": "With the status 429 or 503, the seconds after which to send the request again."
              }
            },
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "Unauthorized": {
            "description": "The request has no token, or one that is not valid.",
            "headers": {"WWW-Authenticate": {"schema": {"type": "string"}}},
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          }
        },
        "schemas": {
          "Kind": {
            "type": "string",
            "enum": ["hashed", "url", "verbatim"],
            "default": "hashed",
            "description": "How the name of a file is derived from the key."
          },
          "Key": {
            "type": "object",
            "required": ["key"],
            "properties": {
              "key": {"type": "string", "description": "The text of the key."},
              "kind": {"$ref": "#/components/schemas/Kind"}
            }
          },
          "Fields": {
            "type": "array",
            "items": {"type": "string", "enum": ["data", "dates", "place", "expiry"]},
            "default": ["data"],
            "description": "The parts of the items to read."
          },
          "SortKey": {
            "type": ["number", "string", "null"],
            "description": "Numbers come before texts, and null after all others."
          },
          "Bound": {
            "oneOf": [
              {"type": "string", "enum": ["start", "end"]},
              {
                "type": "object",
                "required": ["before"],
                "properties": {"before": {"$ref": "#/components/schemas/SortKey"}}
              },
              {
                "type": "object",
                "required": ["after"],
                "properties": {"after": {"$ref": "#/components/schemas/SortKey"}}
              }
            ],
            "description": "A place between sort keys. The items without a value have the key null. They are in a \#
    range of their own, from {\"before\": null} to \"end\": a range of values ends before that."
          },
          "Place": {
            "type": "object",
            "required": ["position"],
            "properties": {
              "sortKey": {"$ref": "#/components/schemas/SortKey"},
              "position": {"type": "integer", "format": "int64"}
            }
          },
          "Path": {
            "type": "string",
            "minLength": 1,
            "pattern": "^([^\\\\]|\\\\[\\s\\S])+$",
            "description": "Names of members, separated by dots. The character after a backslash is a part of a name."
          },
          "Member": {
            "type": "object",
            "required": ["path"],
            "properties": {
              "path": {"$ref": "#/components/schemas/Path"},
              "text": {
                "type": "boolean",
                "default": true,
                "description": "Whether texts are prepared for comparison as Swift compares them."
              }
            }
          },
          "OrderedIndex": {
            "type": "object",
            "required": ["members"],
            "properties": {
              "members": {"type": "array", "items": {"$ref": "#/components/schemas/Member"}, "minItems": 1},
              "constants": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/SortKey"},
                "description": "Of a partial index, the values of its first members, fewer than there are members."
              }
            }
          },
          "SearchIndex": {
            "type": "object",
            "required": ["search"],
            "properties": {
              "search": {"type": "array", "items": {"$ref": "#/components/schemas/Path"}, "minItems": 1},
              "form": {"type": "string", "enum": ["words", "substrings"], "default": "words"}
            }
          },
          "Index": {
            "anyOf": [{"$ref": "#/components/schemas/OrderedIndex"}, {"$ref": "#/components/schemas/SearchIndex"}]
          },
          "Expression": {
            "anyOf": [
              {
                "type": "object",
                "required": ["text"],
                "properties": {"text": {"type": "string"}, "prefix": {"type": "boolean", "default": false}}
              },
              {
                "type": "object",
                "required": ["all"],
                "properties": {"all": {"type": "array", "items": {"$ref": "#/components/schemas/Expression"}}}
              },
              {
                "type": "object",
                "required": ["any"],
                "properties": {"any": {"type": "array", "items": {"$ref": "#/components/schemas/Expression"}}}
              },
              {
                "type": "object",
                "required": ["not"],
                "properties": {"not": {"$ref": "#/components/schemas/Expression"}}
              }
            ],
            "description": "Nested at most 200 levels deep."
          },
          "Ranking": {
            "type": "object",
            "required": ["count", "length", "found"],
            "properties": {
              "count": {"type": "integer", "minimum": 0},
              "length": {"type": "integer", "minimum": 0},
              "found": {"type": "array", "items": {"type": "integer", "minimum": 0}}
            }
          },
          "Search": {
            "type": "object",
            "required": ["index", "expression"],
            "additionalProperties": false,
            "properties": {
              "index": {"$ref": "#/components/schemas/SearchIndex"},
              "expression": {"$ref": "#/components/schemas/Expression"},
              "ranking": {"$ref": "#/components/schemas/Ranking"},
              "weights": {
                "type": "array",
                "items": {"type": "number"},
                "description": "With a ranking, a weight for each path."
              },
              "after": {"$ref": "#/components/schemas/Place"}
            }
          },
          "OneScan": {
            "oneOf": [
              {
                "type": "object",
                "required": ["all"],
                "properties": {
                  "all": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {"after": {"type": "integer", "format": "int64"}}
                  }
                }
              },
              {
                "type": "object",
                "required": ["range"],
                "properties": {
                  "range": {
                    "type": "object",
                    "required": ["index", "from", "to"],
                    "additionalProperties": false,
                    "properties": {
                      "index": {"$ref": "#/components/schemas/OrderedIndex"},
                      "equal": {
                        "type": "array",
                        "items": {"$ref": "#/components/schemas/SortKey"},
                        "description": "Of the first members, fewer than the index has."
                      },
                      "from": {"$ref": "#/components/schemas/Bound"},
                      "to": {"$ref": "#/components/schemas/Bound"},
                      "descending": {"type": "boolean", "default": false},
                      "after": {"$ref": "#/components/schemas/Place"}
                    }
                  }
                }
              },
              {
                "type": "object",
                "required": ["irregular"],
                "properties": {
                  "irregular": {
                    "type": "object",
                    "required": ["index"],
                    "additionalProperties": false,
                    "properties": {"index": {"$ref": "#/components/schemas/OrderedIndex"}}
                  }
                }
              },
              {
                "type": "object",
                "required": ["approximate"],
                "properties": {
                  "approximate": {
                    "type": "object",
                    "required": ["index", "from", "to"],
                    "additionalProperties": false,
                    "properties": {
                      "index": {"$ref": "#/components/schemas/OrderedIndex"},
                      "equal": {"type": "array", "items": {"$ref": "#/components/schemas/SortKey"}},
                      "from": {"$ref": "#/components/schemas/Bound"},
                      "to": {"$ref": "#/components/schemas/Bound"}
                    }
                  }
                }
              },
              {
                "type": "object",
                "required": ["search"],
                "properties": {"search": {"$ref": "#/components/schemas/Search"}}
              }
            ],
            "description": "All items in the order of insertion, those in a range of an index, those that an index \#
    knows nothing or little about, or those that a search finds. The index must exist."
          },
          "Scan": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "scans": {"type": "array", "items": {"$ref": "#/components/schemas/OneScan"}, "default": [{"all": {}}]},
              "counted": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/OneScan"},
                "description": "Scans whose items are only counted."
              },
              "countLimit": {"type": "integer", "minimum": 0, "maximum": 9223372036854775807},
              "fields": {"$ref": "#/components/schemas/Fields"},
              "cursor": {
                "type": "boolean",
                "description": "Whether the answer has the end of the log at the moment of the scan."
              },
              "ranking": {"$ref": "#/components/schemas/Search"},
              "short": {"type": "boolean", "description": "Whether the scans probably end after few items."},
              "within": {
                "type": "array",
                "items": {"type": "array", "items": {"$ref": "#/components/schemas/OneScan"}},
                "description": "Items that are not in one scan of each list may be left out."
              },
              "omitsUnreadable": {"type": "boolean"},
              "needsOriginal": {"type": "boolean"}
            }
          },
          "Fetch": {
            "type": "object",
            "required": ["keys"],
            "additionalProperties": false,
            "properties": {
              "keys": {"type": "array", "items": {"$ref": "#/components/schemas/Key"}},
              "fields": {"$ref": "#/components/schemas/Fields"},
              "index": {"$ref": "#/components/schemas/Index"},
              "omitsUnreadable": {"type": "boolean"},
              "needsOriginal": {"type": "boolean"}
            }
          },
          "CollectionChanges": {
            "type": "object",
            "required": ["collection", "since"],
            "additionalProperties": false,
            "properties": {
              "collection": {"type": "string"},
              "since": {"type": "string"},
              "excluding": {
                "type": "string",
                "format": "uuid",
                "description": "The reader's own origin, whose changes may be omitted if there are no others."
              },
              "items": {"type": "boolean", "description": "Whether the answer has the changed items."},
              "known": {
                "type": "array",
                "items": {"type": "string", "format": "uuid"},
                "description": "Origins of the reader's own batches, whose items it has: they may be missing."
              },
              "fields": {"$ref": "#/components/schemas/Fields"},
              "omitsUnreadable": {"type": "boolean"},
              "needsOriginal": {"type": "boolean"}
            }
          },
          "ChangesRequest": {
            "type": "object",
            "required": ["since"],
            "additionalProperties": false,
            "properties": {
              "since": {"type": "string"},
              "excluding": {
                "type": "string",
                "format": "uuid",
                "description": "The reader's own origin, whose changes may be omitted if there are no others."
              },
              "items": {"type": "boolean", "description": "Whether the answer has the changed items."},
              "known": {
                "type": "array",
                "items": {"type": "string", "format": "uuid"},
                "description": "Origins of the reader's own batches, whose items it has: they may be missing."
              },
              "fields": {"$ref": "#/components/schemas/Fields"},
              "omitsUnreadable": {"type": "boolean"},
              "needsOriginal": {"type": "boolean"}
            }
          },
          "Operation": {
            "anyOf": [
              {
                "type": "object",
                "required": ["key"],
                "additionalProperties": false,
                "properties": {
                  "key": {"type": "string", "description": "The text of the key."},
                  "kind": {"$ref": "#/components/schemas/Kind"},
                  "value": {"description": "The item's bytes, if they are JSON on one line."},
                  "data": {
                    "type": "string",
                    "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
                    "contentEncoding": "base64",
                    "description": "The item's bytes otherwise."
                  }
                }
              },
              {
                "type": "object",
                "required": ["key", "removed"],
                "additionalProperties": false,
                "properties": {
                  "key": {"type": "string", "description": "The text of the key."},
                  "kind": {"$ref": "#/components/schemas/Kind"},
                  "removed": {"const": true}
                }
              },
              {
                "type": "object",
                "required": ["removesAll"],
                "additionalProperties": false,
                "properties": {"removesAll": {"const": true}}
              }
            ],
            "description": "Writes an item, removes one, or removes all."
          },
          "Condition": {
            "type": "object",
            "required": ["key"],
            "additionalProperties": false,
            "properties": {
              "key": {"type": "string", "description": "The text of the key."},
              "kind": {"$ref": "#/components/schemas/Kind"},
              "value": {"description": "The item's bytes, if they are JSON on one line."},
              "data": {
                "type": "string",
                "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
                "contentEncoding": "base64",
                "description": "The item's bytes otherwise."
              }
            },
            "description": "The bytes that the item must have; without bytes, there must be no item."
          },
          "Dates": {
            "type": "object",
            "required": ["key", "created", "updated"],
            "additionalProperties": false,
            "properties": {
              "key": {"type": "string", "description": "The text of the key."},
              "kind": {"$ref": "#/components/schemas/Kind"},
              "created": {"type": "integer"},
              "updated": {"type": "integer"}
            }
          },
          "Batch": {
            "type": "object",
            "required": ["collection", "operations"],
            "additionalProperties": false,
            "properties": {
              "collection": {"type": "string"},
              "operations": {"type": "array", "items": {"$ref": "#/components/schemas/Operation"}},
              "conditions": {"type": "array", "items": {"$ref": "#/components/schemas/Condition"}},
              "basis": {"type": "string", "description": "The cursor at which the log must end."},
              "dates": {"type": "array", "items": {"$ref": "#/components/schemas/Dates"}},
              "origin": {"type": "string", "format": "uuid"}
            }
          },
          "Outcome": {
            "type": "object",
            "required": ["applied"],
            "properties": {
              "applied": {"type": "boolean", "description": "Whether all conditions were met."},
              "commit": {
                "type": "object",
                "required": ["before", "after"],
                "properties": {"before": {"type": "string"}, "after": {"type": "string"}}
              },
              "expires": {"type": "integer"}
            }
          },
          "Description": {
            "type": "object",
            "required": ["traits", "log", "indexes", "references", "transactions", "receipts"],
            "properties": {
              "traits": {"type": "array", "items": {"type": "string"}},
              "log": {"type": "boolean"},
              "indexes": {"type": "boolean"},
              "references": {"type": "boolean"},
              "transactions": {"type": "boolean"},
              "receipts": {
                "type": "boolean",
                "description": "Whether a change with an Idempotency-Key can be sent again."
              }
            }
          },
          "Query": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "filter": {
                "type": "string",
                "maxLength": 4096,
                "description": "\#
    A filter expression of RFC 9535 without queries for several values, such as @.isDone == false; by \#
    default all items, or with an order those that are text in UTF-8."
              },
              "order": {
                "type": "array",
                "maxItems": 8,
                "description": "Items with equal values come in insertion order.",
                "items": {
                  "type": "object",
                  "additionalProperties": false,
                  "required": ["path"],
                  "properties": {
                    "path": {"$ref": "#/components/schemas/Path"},
                    "descending": {"type": "boolean"}
                  }
                }
              },
              "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
              "after": {"type": "string", "description": "The text `next` of the page before, of the same query."},
              "count": {"type": "boolean", "description": "Whether only the number of items is wanted. If an index \#
    alone can count, items with the value count even if they are not in UTF-8."}
            }
          },
          "Reference": {
            "type": "object",
            "required": ["path", "target", "onRemoval"],
            "properties": {
              "path": {"$ref": "#/components/schemas/Path"},
              "list": {"type": "boolean", "default": false},
              "target": {"type": "string"},
              "targetPath": {"$ref": "#/components/schemas/Path", "default": "id"},
              "onRemoval": {"type": "string", "enum": ["remove", "clear", "refuse", "keep"]}
            }
          },
          "Problem": {
            "type": "object",
            "required": ["status", "code"],
            "properties": {
              "title": {"type": "string"},
              "status": {"type": "integer"},
              "code": {"type": "string", "description": "What a program can decide by; see StorageError.Code."},
              "detail": {"type": "string"},
              "item": {"$ref": "#/components/schemas/Key"},
              "retryAfter": {"type": "integer", "description": "Seconds."}
            }
          }
        }
      }
    }
    """#
#endif
