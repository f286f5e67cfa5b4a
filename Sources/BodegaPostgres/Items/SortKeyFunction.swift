#if Postgres
import Bodega

/// The function that computes the sort key of an item on the server, for indexes.
///
/// It returns bytes in the order of `StorageSortKey`, see ``SortKeyBytes``, or a question mark for an item about which
/// it knows nothing:
///
/// - An item that is not JSON, is not UTF-8, can't be represented in the database's encoding, or is larger than 16 MiB.
/// - An item with an escape such as `\u0041`, with which a name or a text has a second spelling.
/// - An array, an object, a text of more than 1,000 bytes, which an index can't hold, or a number beyond `Double`.
/// - In an index for text, a text that is not all of scalars for which equality of scalars is that of Swift's strings,
///   and a UUID in mixed case.
///
/// It never fails, so that each write that succeeds without an index succeeds with it. For that it catches errors, so
/// it is not safe in parallel plans: servers before version 17 don't support subtransactions there.
///
/// Stored indexes contain its results. A function that returns anything else has another version, and so another name;
/// a published one never changes.
enum SortKeyFunction {

    static let version = 1
    static let name = PostgresFailure.sortKeyFunction + "\(version)"
    static let signature = "\(name)(bytea, text[], boolean)"

    /// An expression that calls the function for a member of the items in a column.
    ///
    /// - Parameter schema: The start of the function's name, the empty string if it is found by the search path, as the
    ///   table is.
    static func call(_ member: StorageIndex.Member, data: String = "data", schema: String = "") -> String {
        let names = member.names.map(SQLText.literal).joined(separator: ", ")
        return "\(schema)\(name)(\(data), ARRAY[\(names)]::text[], \(member.isForText))"
    }

    /// The expressions of an index, one for each member. The first one is the question mark if any member's is.
    static func expressions(of index: StorageIndex, schema: String = "") -> [String] {
        var expressions = index.members.map { call($0, schema: schema) }
        if !index.others.isEmpty {
            let isIrregular = expressions.dropFirst().map { "\($0) = '?'::bytea" }.joined(separator: " OR ")
            expressions[0] = "CASE WHEN \(isIrregular) THEN '?'::bytea ELSE \(expressions[0]) END"
        }
        return expressions
    }

    /// The condition of the items in a partial index, also of those about which the function knows nothing; `nil` for
    /// an index of all items. The server uses a partial index only for a statement with the same condition.
    static func condition(of index: StorageIndex, schema: String = "") -> String? {
        let terms = zip(index.members, index.constants).map { member, key in
            let keys = [SortKeyBytes.bytes(of: key), SortKeyBytes.none, SortKeyBytes.irregular]
            // Their text does not depend on settings, as that of a string with a backslash does.
            let constants = keys.map { "decode('\($0.hexadecimal)', 'hex')" }.joined(separator: ", ")
            return "\(call(member, schema: schema)) IN (\(constants))"
        }
        return terms.isEmpty ? nil : terms.joined(separator: " AND ")
    }

    /// The statements that create the function in a schema.
    ///
    /// All users who may write call it through the index, also if functions are not public by default.
    static func definition(inSchema schema: String) -> [String] {
        let schema = SQLText.identifier(schema)
        return [
            """
            CREATE OR REPLACE FUNCTION \(schema).\(name)(data bytea, path text[], is_for_text boolean) RETURNS bytea
            LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE COST 1000 AS \(SQLText.literal(body))
            """,
            "GRANT EXECUTE ON FUNCTION \(schema).\(signature) TO PUBLIC",
        ]
    }

    /// The body. A string in it with a backslash is an `E` string, whose meaning does not depend on settings.
    static let body = """

        DECLARE
            document text;
            element json;
            name text;
            quoted text;
            place integer;
            content text;
            utf8 bytea;
            number double precision;
            whole bigint;
            difference integer := 0;
            bits bigint;
        BEGIN
            IF octet_length(data) > 16777216 THEN RETURN '?'::bytea; END IF;
            document := convert_from(data, 'UTF8');
            IF strpos(document, E'\\\\u') > 0 THEN RETURN '?'::bytea; END IF;
            element := document::json;
            FOREACH name IN ARRAY path LOOP
                quoted := '"' || name || '"';
                place := strpos(document, quoted);
                IF name COLLATE "C" ~ E'["/\\\\\\\\\\\\u0001-\\\\u001f]'
                    OR place > 0 AND strpos(substr(document, place + length(quoted)), quoted) > 0
                THEN
                    -- The name has several spellings, or may be there twice: then the first one counts.
                    IF json_typeof(element) <> 'object' THEN RETURN '~'::bytea; END IF;
                    element := (
                        SELECT m.value FROM json_each(element) WITH ORDINALITY AS m (key, value, place)
                        WHERE m.key = name COLLATE "C" ORDER BY m.place LIMIT 1
                    );
                ELSIF place = 0 THEN
                    RETURN '~'::bytea;
                ELSE
                    element := element -> name;
                END IF;
                IF element IS NULL THEN RETURN '~'::bytea; END IF;
                document := element::text;
            END LOOP;
            content := element #>> '{}'::text[];
            CASE json_typeof(element)
            WHEN 'null' THEN
                RETURN '~'::bytea;
            WHEN 'string' THEN
                utf8 := convert_to(content, 'UTF8');
                IF octet_length(utf8) > 1000 THEN RETURN '?'::bytea; END IF;
                IF is_for_text AND (
                    content COLLATE "C" ~ E'[^\\t\\n\\r -~]' AND (
                        getdatabaseencoding() <> 'UTF8'
                        OR content COLLATE "C" ~ E'[^\(escapes(SwiftText.safe))]'
                        OR content COLLATE "C" ~ E'[\(escapes(SwiftText.marks))][\(escapes(SwiftText.marks))]'
                    )
                    OR content COLLATE "C" LIKE '________-____-____-____-____________'
                        AND content <> upper(content COLLATE "C") AND content <> lower(content COLLATE "C")
                ) THEN
                    RETURN '?'::bytea;
                END IF;
                RETURN 's'::bytea || utf8;
            WHEN 'boolean' THEN
                number := CASE content WHEN 'true' THEN 1 ELSE 0 END;
            WHEN 'number' THEN
                number := content::double precision;
                IF number NOT BETWEEN -9007199254740991 AND 9007199254740991
                    AND content COLLATE "C" ~ '^-?[0-9]{1,19}$'
                    AND content::numeric BETWEEN -9223372036854775808 AND 9223372036854775807
                THEN
                    -- An integer of 64 bits that may lie beside the nearest double.
                    whole := content::bigint;
                    difference := CASE number
                        WHEN 9223372036854775808 THEN whole - 9223372036854775807 - 1
                        ELSE whole - number::bigint END;
                END IF;
            ELSE
                RETURN '?'::bytea;
            END CASE;
            -- A negative zero equals zero.
            IF number = 0 THEN number := 0; END IF;
            bits := ('x' || encode(float8send(number), 'hex'))::bit(64)::bigint;
            RETURN 'n'::bytea
                || int8send(CASE WHEN bits < 0 THEN ~bits ELSE bits # (-9223372036854775808)::bigint END)
                || int2send((CASE WHEN difference < 0 THEN difference + 32768 ELSE difference - 32768 END)::smallint);
        EXCEPTION WHEN OTHERS THEN
            RETURN '?'::bytea;
        END
        """

    /// The content of a character class in ASCII, because a database's encoding need not have the characters.
    private static func escapes(_ characterClass: String) -> String {
        characterClass.unicodeScalars.map { scalar in
            if scalar == "-" { return "-" }
            let digits = String(scalar.value, radix: 16)
            return "\\\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }
}
#endif
