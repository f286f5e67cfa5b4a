#if Server
import Bodega
public import Foundation
import HummingbirdTLS
import NIOSSL

/// The files with which a ``StorageServer`` speaks TLS, version 1.2 or later.
///
/// The files are read when the server starts. Start it again after a renewal of the certificate.
public struct StorageServerTLS: Sendable {
    /// The file with the server's certificate, followed by those of the authorities between it and the root, in the
    /// form PEM.
    public var certificate: URL
    /// The file with the private key of the certificate, in the form PEM and without a password.
    public var key: URL

    /// Creates a description of the files.
    ///
    /// - Parameters:
    ///   - certificate: The file with the certificate and those of the authorities after it.
    ///   - key: The file with the private key.
    public init(certificate: URL, key: URL) { (self.certificate, self.key) = (certificate, key) }

    /// Reads the files.
    ///
    /// - Throws: A `StorageError` that names the file: `cannotOpen` if it can't be read, or `invalidArgument` if it is
    ///   not what it must be.
    func configuration() throws -> TLSConfiguration {
        let chain: [NIOSSLCertificate]
        let certificateBytes = try bytes(of: certificate)
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(certificateBytes)
        } catch {
            throw damaged("The file has no certificates in the form PEM, or a damaged one.", certificate)
        }
        guard !chain.isEmpty else { throw damaged("The file has no certificates in the form PEM.", certificate) }
        let privateKey: NIOSSLPrivateKey
        let keyBytes = try bytes(of: key)
        do {
            privateKey = try NIOSSLPrivateKey(bytes: keyBytes, format: .pem)
        } catch {
            throw damaged("The file has no private key in the form PEM, or one with a password.", key)
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do {
            // Only here the two are compared.
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw damaged("The file has another private key than that of the certificate \(certificate.path).", key)
        }
        return configuration
    }

    private func bytes(of file: URL) throws -> [UInt8] {
        do {
            return Array(try Data(contentsOf: file))
        } catch {
            throw StorageError(.cannotOpen, "The file \(file.path) can't be read.", file: file, cause: error)
        }
    }

    /// An error without a cause, which could show parts of a key.
    private func damaged(_ message: String, _ file: URL) -> StorageError {
        StorageError(.invalidArgument, "\(message) It is \(file.path).", file: file)
    }
}
#endif
