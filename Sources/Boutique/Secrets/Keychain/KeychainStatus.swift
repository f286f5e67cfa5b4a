/// The status codes of the keychain that are handled specially, with the values of Apple's `SecBase.h`.
enum KeychainStatus {
    static let success: Int32 = 0
    static let diskFull: Int32 = -34
    static let writePermission: Int32 = -61
    static let userCanceled: Int32 = -128
    static let notAvailable: Int32 = -25291
    static let readOnly: Int32 = -25292
    static let authenticationFailed: Int32 = -25293
    static let duplicateItem: Int32 = -25299
    static let itemNotFound: Int32 = -25300
    static let interactionNotAllowed: Int32 = -25308
    static let interactionRequired: Int32 = -25315
    static let decode: Int32 = -26275
    static let missingEntitlement: Int32 = -34018

    /// The codes for which Boutique throws `couldNotAccessKeychain`.
    static let noAccess: Set<Int32> = [-25243, -67700, -67796, -67797, -67876]
}

extension KeychainError {

    /// Creates the error for a status of the keychain, with the case that Boutique uses for it.
    ///
    /// - Parameters:
    ///   - status: The status, which is not success.
    ///   - secret: The secret concerned.
    init(keychain status: Int32, _ secret: SecretAddress) {
        var details = Details(status: status)
        details.secret = secret
        switch status {
        case KeychainStatus.itemNotFound: self = .itemNotFound(details)
        case KeychainStatus.missingEntitlement: self = .missingEntitlement(details)
        case _ where KeychainStatus.noAccess.contains(status): self = .couldNotAccessKeychain(details)
        default: self = .errorWithStatus(status: status)
        }
    }
}

extension KeychainError.Details {

    /// Creates the details for a status of the keychain.
    init(status: Int32) {
        let (code, message): (KeychainError.Code, String) =
            switch status {
            case KeychainStatus.itemNotFound:
                (.notFound, "There is no such item in the keychain.")
            case KeychainStatus.interactionNotAllowed, KeychainStatus.interactionRequired, KeychainStatus.notAvailable:
                (.locked, "The keychain is locked or not available yet. Try again after the device has been unlocked.")
            case KeychainStatus.decode:
                (.undecodable, "The keychain cannot decode the item. Set it again, or remove it.")
            case KeychainStatus.authenticationFailed, KeychainStatus.userCanceled, KeychainStatus.writePermission:
                (.accessDenied, "The user or the system denied access to the item. Ask the user before trying again.")
            case _ where KeychainStatus.noAccess.contains(status):
                (.accessDenied, "The app has no access to the item. Check its access group and its access control.")
            case KeychainStatus.missingEntitlement:
                (
                    .missingEntitlement,
                    """
                    The app may not use the keychain, or not with this group. Sign the app with the Keychain Sharing \
                    capability and list the group there.
                    """
                )
            case KeychainStatus.readOnly:
                (.readOnly, "The keychain is read-only.")
            case KeychainStatus.diskFull:
                (.storageFull, "The disk is full, so the secret was not stored. Free some space and try again.")
            default:
                (.other, "The keychain failed. Run `security error` with the status to find the reason.")
            }
        self.init(code, message, status: status)
    }
}
