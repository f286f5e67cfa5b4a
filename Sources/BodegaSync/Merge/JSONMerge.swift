package import Foundation

/// The three-way merge of items in JSON.
///
/// A value that only one side has changed since the base version is taken from that side. What "changed" means does not
/// depend on the text: spaces, the order of members, escapes, and spellings of one number such as `1` and `1.0` are not
/// changes, except that `-0` differs from `0`.
///
/// If both sides have changed a value:
/// - Two objects are merged member by member, with any base version; the members of one that is not an object
///   count as absent. The members come in the order of `remote`, followed by those that only `local` has.
/// - A change prevails over a removal, on either side.
/// - Otherwise the preferred side decides. That goes for arrays, too: as elements have no names, a merge inside would
///   have to guess which of them are the same, and would join two orders to one that neither side has seen.
/// - Two objects with a single member of different names are two cases of an enumeration, as Swift encodes them. The
///   preferred side decides, because an object with both could not be decoded. That also goes for dictionaries with
///   a single key, unless the base version has none or several.
///
/// Each change that is not in the result is reported as a ``MergeLoss``. Values that are not merged inside are copied
/// byte for byte. An object with two members of one name is not merged inside. If a version is not JSON in UTF-8, or is
/// nested more than 500 levels deep, versions are compared by their bytes, and the preferred side decides.
///
/// The time is proportional to the size of the versions, and for arrays in arrays to the depth, too.
package enum JSONMerge {

    /// Merges two versions that come from one base version.
    ///
    /// - Parameters:
    ///   - base: The version from which both others come; `nil` if there was none.
    ///   - local: The version of this device; `nil` if it is removed.
    ///   - remote: The version of the server; `nil` if it is removed.
    ///   - preference: The side that decides where both have changed one value.
    package static func merge(
        base: Data?, local: Data?, remote: Data?, preferring preference: MergePreference
    ) -> MergeResult {
        merge(base: base, local: local, remote: remote, by: .preferring(preference))
    }

    /// Returns what a program has written, with everything that it does not know.
    ///
    /// A program whose version of a type lacks some members drops them when it decodes an item and encodes it again.
    /// The difference between the stored item and its decoded and encoded form is what the program does not know. The
    /// result has it, together with what the program has changed:
    /// - A value that the program has not changed is copied from the stored item.
    /// - A value that the program has removed is removed with everything in it.
    /// - The elements of an array are in the order of the new one. Elements that the program does not know stay behind
    ///   those that precede them. ``ElementPairs`` recognizes elements.
    ///
    /// - Parameters:
    ///   - new: The item as the program writes it.
    ///   - known: The stored item as this program decodes and encodes it again.
    ///   - stored: The stored item.
    /// - Returns: `stored` byte for byte if `new` and `known` are equal.
    package static func preserving(_ new: Data, known: Data, stored: Data) -> Data {
        merge(base: known, local: new, remote: stored, by: .keepingUnknown).data ?? new
    }

    private static func merge(base: Data?, local: Data?, remote: Data?, by rule: TreeMerge.Rule) -> MergeResult {
        // Most versions are decided without a look inside.
        if local == remote || base == local { return MergeResult(data: remote) }
        var values = MergeValues()
        let versions = Versions(
            base: base.map { MergeDocument($0, &values) },
            local: local.map { MergeDocument($0, &values) },
            remote: remote.map { MergeDocument($0, &values) })
        var merge = TreeMerge(versions, by: rule)
        return merge.result()
    }
}
