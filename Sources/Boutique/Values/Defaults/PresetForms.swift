import Foundation

/// The forms in which an object of user defaults that no program has stored, a launch argument or a registered default,
/// may be decoded: each is the stored form of a value.
///
/// A launch argument is a text or a property list of texts, for a value of any type. Like `UserDefaults`, a
/// number and a truth value are recognized in it.
enum PresetForms {

    /// Returns the forms of an object, the one of the same type first.
    static func of(_ object: Any) -> [Data] {
        if let data = object as? Data { return [data] }
        var forms = [json(object)].compactMap { $0 }.compactMap(envelope)
        if let text = object as? String {
            // The stored form itself, and JSON that is not a string.
            forms += [Data(text.utf8), Data(#"{"value":\#(text)}"#.utf8)]
        }
        if let flag = truthValue(object), let form = envelope(flag) { forms.append(form) }
        return forms
    }

    private static func envelope(_ value: Any) -> Data? {
        let object = ["value": value]
        guard JSONSerialization.isValidJSONObject(object) else { return nil }
        do {
            return try JSONSerialization.data(withJSONObject: object, options: .withoutEscapingSlashes)
        } catch {
            return nil
        }
    }

    /// Returns an object of a property list as an object of JSON, in the form in which the coders store it.
    private static func json(_ object: Any) -> Any? {
        switch object {
        case let date as Date: date.timeIntervalSinceReferenceDate
        case let data as Data: data.base64EncodedString()
        case let list as [Any]: list.compactMap(json)
        case let entries as [String: Any]: entries.compactMapValues(json)
        default: object
        }
    }

    /// Returns what `UserDefaults.bool(forKey:)` does, or `nil` if the object is no truth value.
    private static func truthValue(_ object: Any) -> Bool? {
        switch object {
        case let number as Int: [0: false, 1: true][number]
        case let text as String:
            ["yes": true, "true": true, "1": true, "no": false, "false": false, "0": false][text.lowercased()]
        default: nil
        }
    }
}
