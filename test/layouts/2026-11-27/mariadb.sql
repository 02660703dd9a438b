/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_account` (
  `id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `name` varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `suspended_at` bigint(20) DEFAULT NULL,
  `rate` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `consent_words` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_account` DISABLE KEYS */;
INSERT INTO `gateway_account` VALUES
('acc_RUQXgVo34DCuRBUXCuqRFw','demo',1795790941575,NULL,NULL,NULL),
('acc_yvRzdBNiCICuf2196nD1UJ','acme',1795790945033,NULL,NULL,NULL);
/*!40000 ALTER TABLE `gateway_account` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_audit` (
  `id` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `at` bigint(20) NOT NULL,
  `user_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `ip` varchar(45) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `account_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `action` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `target` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `gateway_audit_account` (`account_id`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_audit` DISABLE KEYS */;
INSERT INTO `gateway_audit` VALUES
('01a21d7b-2e04-727f-acb2-9ef7b79de1aa',1795790941700,'usr_test3','127.0.0.1','acc_RUQXgVo34DCuRBUXCuqRFw','session.started',NULL),
('01a21d7b-2e27-76de-b554-b4bd36952c9c',1795790941735,'usr_test3','127.0.0.1','acc_RUQXgVo34DCuRBUXCuqRFw','webhook.added','01a21d7b-2e21-750e-9b81-794c417a37ca'),
('01a21d7b-2e4c-76bf-bdc6-d5cdb26711b6',1795790941772,'usr_test3','127.0.0.1','acc_RUQXgVo34DCuRBUXCuqRFw','group.created','grp_jnPDpGkzeQLqsvZPIYRxyj'),
('01a21d7b-2e70-754c-b4d8-a371009c204d',1795790941808,'usr_test3','127.0.0.1','acc_RUQXgVo34DCuRBUXCuqRFw','group.members_added','grp_jnPDpGkzeQLqsvZPIYRxyj: 3'),
('01a21d7b-2e82-7443-aa96-9260cb69879d',1795790941827,'usr_test3','127.0.0.1','acc_RUQXgVo34DCuRBUXCuqRFw','suppression.added','l•••@example.com'),
('01a21d7b-2e9e-7208-b1b4-fe92e22bad0d',1795790941854,'usr_test3','127.0.0.1','acc_RUQXgVo34DCuRBUXCuqRFw','sender.added','ACMENEWS'),
('01a21d7b-303d-7420-8a54-de8146941ce3',1795790942269,'usr_test3','127.0.0.1','acc_RUQXgVo34DCuRBUXCuqRFw','domain.added','01a21d7b-2eb5-756d-864d-86a25039c491'),
('01a21d7b-3737-7777-b234-3c6ff1c88c19',1795790944055,'usr_test3','127.0.0.1','acc_RUQXgVo34DCuRBUXCuqRFw','do_not_call.added','•••••••••••98');
/*!40000 ALTER TABLE `gateway_audit` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_caller` (
  `account_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `caller` varchar(15) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `state` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT 'approved',
  PRIMARY KEY (`account_id`,`caller`),
  CONSTRAINT `FK_232a9f8c996a0e0ed6d855b625d` FOREIGN KEY (`account_id`) REFERENCES `gateway_account` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_caller` DISABLE KEYS */;
INSERT INTO `gateway_caller` VALUES
('acc_RUQXgVo34DCuRBUXCuqRFw','2348000000001',1795790941640,'approved');
/*!40000 ALTER TABLE `gateway_caller` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_credential` (
  `id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `account_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `kind` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `fingerprint` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `last_four` varchar(4) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `scopes` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `revoked_at` bigint(20) DEFAULT NULL,
  `expires_at` bigint(20) DEFAULT NULL,
  `last_used_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `IDX_6051b382c460597d53e9f39a2e` (`fingerprint`),
  KEY `gateway_credential_account` (`account_id`),
  CONSTRAINT `FK_f2a20ac11706cf9c4d3893f0cff` FOREIGN KEY (`account_id`) REFERENCES `gateway_account` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_credential` DISABLE KEYS */;
INSERT INTO `gateway_credential` VALUES
('crd_5nGovs8WehoO1Tioo7YVra','acc_yvRzdBNiCICuf2196nD1UJ','api_key','80f0c318d541c6efb06e7f36c77873cc34dbf5a01423b6647c684abab122fdc3','RDhz','whatsapp:send,whatsapp:read,contacts:read,contacts:write,email:read,email:send,email:webhooks,domains:write',1795790945039,NULL,NULL,NULL),
('crd_JkMnTkAHNsL4NMjZ6SYwKi','acc_yvRzdBNiCICuf2196nD1UJ','api_token','093d988ac7ee92b7f2413a4317df8575cbe7b4735176b1aa3fae034cf471954b','OIxH','',1795790945036,NULL,NULL,NULL),
('crd_key4wI6Hxy66qhLVN8dGoU','acc_RUQXgVo34DCuRBUXCuqRFw','api_key','d6d3937928a2b024fc49d54361e512731d9be5f693e69d991beef6ea4013d91a','u6o0','whatsapp:send,whatsapp:read,contacts:read,contacts:write,email:read,email:send,email:webhooks,domains:write',1795790941608,NULL,NULL,NULL),
('crd_qEUxxC97QZmehPm8WjWGJI','acc_RUQXgVo34DCuRBUXCuqRFw','api_token','7ebe6121e903143ac5ecc0f66b5c8e98fe1a678001f3bfebba52f940508a7a67','mGHC','',1795790941600,NULL,NULL,NULL);
/*!40000 ALTER TABLE `gateway_credential` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_digest_key` (
  `id` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `secret` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_digest_key` DISABLE KEYS */;
INSERT INTO `gateway_digest_key` VALUES
('current','enc1.b28bfe26.qQqTvIKOfEA-JKKxK06X6JLjTSttUv5twMvzPUxrxtHGNcpmFcbNIbObShJTWAa3Zwa8Fg5l9rRnVMLF8m0i0oIaujDH3Tai');
/*!40000 ALTER TABLE `gateway_digest_key` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_email_domain` (
  `id` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `account_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `name` varchar(180) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `status` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `verified_name` varchar(180) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `verified_at` bigint(20) DEFAULT NULL,
  `mismatch_since` bigint(20) DEFAULT NULL,
  `check_due_at` bigint(20) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `checks` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `gateway_email_domain_of_account` (`account_id`,`name`),
  UNIQUE KEY `IDX_722ea2d67dd52308ccad06e310` (`verified_name`),
  KEY `gateway_email_domain_name` (`name`),
  KEY `gateway_email_domain_check_due` (`check_due_at`),
  CONSTRAINT `FK_521c6d5669c0e7dc6922b545da1` FOREIGN KEY (`account_id`) REFERENCES `gateway_account` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_email_domain` DISABLE KEYS */;
INSERT INTO `gateway_email_domain` VALUES
('01a21d7b-2dc6-70de-8639-d8ae12f3e406','acc_RUQXgVo34DCuRBUXCuqRFw','demo.test','verified','demo.test',1795790941638,NULL,NULL,1795790941638,'{}'),
('01a21d7b-2eb5-756d-864d-86a25039c491','acc_RUQXgVo34DCuRBUXCuqRFw','mail.acme.test','pending',NULL,NULL,NULL,1795791543491,1795790942241,'{\"TXT dundun-r-808dd106._domainkey.mail.acme.test\":{\"status\":\"missing\",\"found\":null,\"checkedAt\":\"2026-11-27T14:49:03.460Z\"},\"TXT dundun-e-5560922a._domainkey.mail.acme.test\":{\"status\":\"missing\",\"found\":null,\"checkedAt\":\"2026-11-27T14:49:03.460Z\"},\"MX bounce.mail.acme.test\":{\"status\":\"missing\",\"found\":null,\"checkedAt\":\"2026-11-27T14:49:03.460Z\"},\"TXT bounce.mail.acme.test\":{\"status\":\"missing\",\"found\":null,\"checkedAt\":\"2026-11-27T14:49:03.460Z\"},\"TXT _dmarc.mail.acme.test\":{\"status\":\"missing\",\"found\":null,\"checkedAt\":\"2026-11-27T14:49:03.460Z\"},\"MX mail.acme.test\":{\"status\":\"missing\",\"found\":null,\"checkedAt\":\"2026-11-27T14:49:03.460Z\"}}');
/*!40000 ALTER TABLE `gateway_email_domain` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_email_domain_key` (
  `id` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `domain_id` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `algorithm` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `selector` varchar(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `public_key` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `private_key` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `state` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `former_until` bigint(20) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `gateway_email_domain_key_domain` (`domain_id`),
  CONSTRAINT `FK_e7dd475cadf755e701340b83356` FOREIGN KEY (`domain_id`) REFERENCES `gateway_email_domain` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_email_domain_key` DISABLE KEYS */;
INSERT INTO `gateway_email_domain_key` VALUES
('01a21d7b-2dc7-71be-af1f-cf505180bff5','01a21d7b-2dc6-70de-8639-d8ae12f3e406','ed25519','dundun-e-5cebac24','RfBo1kHAQu3isJvgH/fMsrAmKIgl/6uqb5SWCfrTzLs=','enc1.b28bfe26.L9Pjebhc4nfZyQvVdb-8kcWtvTvQROXzffj1u34yHynXFgbmn0sIL-kenKO0svJuQj2PPkNGV1Nt3KUvrGlZ8mHAckv4sVV4V_Bz2QMOppGi1NpOOlkvSdHp3iKlxGEIQlXV2ms8EplyOtoqbamUCDQuPQekiHrMX6YSmS1PVyBGd5KgCsStVt49-Dd8TK6LLlEg','current',NULL,1795790941639),
('01a21d7b-3020-77be-9866-454115d21cd5','01a21d7b-2eb5-756d-864d-86a25039c491','rsa','dundun-r-808dd106','MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAwkEm8UKk65eM4g4xWvwDP7My6HBb2C3fB+mkwPJUsd/Fq6E00bqfQLC6XTPzSiFW4gR2l6dQ4CqQH7kKvEq2067M196it+V2GhibxU80AiraVu4DdUba52ijTvT/MP+fA+6HPmBcFdI4O0UM5FaG1KSdEnrOHMrTiL86UdG7BT8dwXSjeyEGe0pH3JN6ZOTIZtYWGWOzCcHr3ReNmXIQKQAkJy6grllfyN00/+Lg8GF+l9m0WBeIonTC1+LL+a66Ua2xP1bvfxDCloie1H8Cy+DXfsgeBTlyGQVrjeTazrI71eMmhRj+4tWyw9rp070LDvn6PCs5133L6UeQbVmXVQIDAQAB','enc1.b28bfe26.8_HayiXQKObiUV2ITgQW8klUwIVSPw8wTlFqWYT5Cd1SySwBSde9Io7NZUI_qq-kcTT_yTXCgFgGDkY84qC-E2m7Q6bnGP8-U7vgLzilBi-c01nASJw4b_FO_TxFyZz2bG6N8COZaMqMEUj4Pjwl9pJi89D1Z0JJBvNZZnDZWkiEpCFH_LKzWCGah46hUBXmorCXobcm-V_3qAYhQ5OPuBQcDvfdb--_pBsv1dkT8mC2O5_M5saWAF3zd_qbz9PpdEG7Tm80lL6JVT9DVuTW8oIV8jh9uzMWhv7xEpBjXa8NE8HMqmWgPzut61GwE91FeMW2UrTm9_kvrem9dfQlG0EvF2MkoH2rUi7y5vzg_riHv0PVAYS26eb8oJAe1lHbvDQ6bUIOBqNrUg_LbHKiDfbxhy3CXNnhZJScT0LbevIlrzj_RTmt-M-5OGPmK0Yl6zSFHOMVw49ILmAL68teXbJabsSLTYnZU_6ZP5dS0LkBNiMCMM5_sq0qkyze9FrwKt1Nwm0Tl-z-ybj8lLDVGBY8V0MpnfKBuU9sS_rqe8ssPgivHkw0ZHJ1r_GegRMeDobC9QN_GIZVj_v0g91Jm9Is_aoKwoejlaHx-yLoR6JGIzBIQetEmQ4DQXozj2dBlmEsrpA67_L56O-8RKe6GAEvHl0QtovFMhbOuK4TyrXkeIefpUTBIkIBLEd5zBDj9CbvnYo4P7UcLMrqKAQLWpyfKkPMeyRSjsw_9y3xXzzjLpph_q-z1GPTTucbBQYS9K6RJwy_oDxRDAk37MHQ2h3LJjtN5S5INKtbm_OyoF7dgWKJBt633i_Ai6d09x26Yz61B79z_8ecd8JejOJgvjskGCb2cWstasRf_r-8q88Q8TZ7WoZfJYuY6tNIkMJsr7UkkfULGNGHybuUs7SpkMahDvLbnHrNW0krbw7lMpYd_sW-65YLU4pgfGYerYndPC-FO0d92AmK4Y8b0Mz92Vmt8pVl9B2U1VR7E56HQIvVliJNhqjRMJK-SdaFda14bpZM4mg6KXZ9CnDul-5g3X7y4azp6Z4RAsyqv-FR4e7FsIpTSNdhQr7JKwuFdTz4tv6SHVQDY_-RW8pIUMUQGsGNB-7vqbiy6LpRjdn9dLAoedy5BLHgd_zidtcs50u7ppE4L8gCaji1MZT4qANwjVEFqsyssGeXB0Uz6KLm7t_KCVwUWPxQSZ8GICHSmIe7OObl4jqL77h8gc_6gUa9CAhMLdoeqY-BII5dY6Ho9Nf1-r2mdMsyQlTqNQwIIGsIpcNzf7NwLSXH1fqwAgodLarFQdR0AfHalawMOftmxBDWUHOwVz7lpXTe5Vx3LOZbh2tLlzpKyRXgdFUIN9piZ2ohRpZbacbYSoqI_5q7JPR_u7Fl-obKsHqMgJo4Zkg6F4fv5KaQSbftwTBxojA26Bp9M4s7l7NqN5fNVq8LGwTbwCqP09z29Lpp5TwpHmWPMHyY-yU1dvAaCj8FkE2Rq0YNK9YFj2mfxffy01fs9gdU50K7R4NLt4rStLcDJHdyKBVPDFiwJka3mDcndLBmmSJ4JS2FfDtsnC1ZTcMuM_O3_QN2y4K6rL4i4mqQaelGuF5ahoFXxJ6a46W5DXuJnfv-eySyknl6wXx-ODmdPnuSIKDC4Pm6esmjfb0U34r4Yin-vnRLCFjgzTB-d7gQjZt_OrkpOTY0U_nAhgmUHhYt37Tn16nntm-nu2JIGg67dRbaIrobCcKElA9bZBk1wCPFWkkB2KxZP6XixFzBH7AdkxHDGgARAr9LCstmkwM0gJNHgIgFefRuOLQMK9Oh_psTyjujCGj6oPvKJs-WaXumB1I4ZLR4BTvsVVF2hxh52vwEc6qsDS09hodiTs8H7bzQP9NRIwipzGnJNF_Nm3gTCa-KEHAcDtC5b28_pFVHH4ERHrEvyz3ppRopq10uQAoJd8l7ifMKj8RMpmYHdAKSXND3gfnQGDLM8rKDYwfcj-K3la4GF0tnfiiaubZg7tD6938-B--VBEFaJQn8NoTAgLL0a4QKMAv3gnXAtPPFVURswXwq_398TXTNkYPjf1qN50WOakd3lw378jO-iJcB7U58mhfE8dHX0nSOO-0ieXD1CHCdMAT8ByYkfNS10--9FJUNy7Wuau102bfjBKFpQ-oKy8Tlil0kkv46IkLu3N0J-QqjA7rQjNBTrgYXA1x5_IWDfvWEK5VzX5Z3QaE56Qbip0jlUKTSW5lGite_YZ_LGCDZ7Zv59fsoD7h9aHkxjbc3UVuX3C4332oUBH1EQPLNe3bVqFfXuIyb2Jrz7j7PTQ','current',NULL,1795790942240),
('01a21d7b-3021-7735-ac14-4f33d156ee3b','01a21d7b-2eb5-756d-864d-86a25039c491','ed25519','dundun-e-5560922a','eu/FmBDutXi22be4i4ydAb+dEKe6UMQfRxmatsowcMw=','enc1.b28bfe26.ttmRgSm3qzU3kLLD7NR9mtPr4MSH_SJg4Cqe7HFpKH7xILrNG796Ug-0PaFs3z6CRl0qCgPRO31zLMYqafrLOD0nSYRTO8VY0zc7oB-VD-MgnM7BoouY3KlQABVTrUeDipVvOOFMnWN3cjOW09lq6SpuQV48EVM1dm5zVAcH6jxVbc0jD-EcHLM5xzQ3RiLj4nHw','current',NULL,1795790942241);
/*!40000 ALTER TABLE `gateway_email_domain_key` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_member` (
  `account_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `user_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `role` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `created_at` bigint(20) NOT NULL,
  PRIMARY KEY (`account_id`,`user_id`),
  KEY `gateway_member_user` (`user_id`),
  CONSTRAINT `FK_2035870b26c43fa0d78bd1690f7` FOREIGN KEY (`account_id`) REFERENCES `gateway_account` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION,
  CONSTRAINT `FK_fbf0d2408acaa10d51a92438f2b` FOREIGN KEY (`user_id`) REFERENCES `gateway_user` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_member` DISABLE KEYS */;
/*!40000 ALTER TABLE `gateway_member` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_secrets_key` (
  `id` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `check_value` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `purge_due` smallint(6) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_secrets_key` DISABLE KEYS */;
INSERT INTO `gateway_secrets_key` VALUES
('current','enc1.b28bfe26.kf8oPVRob4uDt-xL8rTn3FzYP-rw92SoIgjapdWktYXjBg',0);
/*!40000 ALTER TABLE `gateway_secrets_key` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_sender` (
  `account_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `sender` varchar(11) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `state` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT 'approved',
  PRIMARY KEY (`account_id`,`sender`),
  CONSTRAINT `FK_37c3bd04a7fd338d44cd05216d2` FOREIGN KEY (`account_id`) REFERENCES `gateway_account` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_sender` DISABLE KEYS */;
INSERT INTO `gateway_sender` VALUES
('acc_RUQXgVo34DCuRBUXCuqRFw','ACME','approved'),
('acc_RUQXgVo34DCuRBUXCuqRFw','ACMENEWS','approved'),
('acc_yvRzdBNiCICuf2196nD1UJ','ACME','approved');
/*!40000 ALTER TABLE `gateway_sender` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_session` (
  `id` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `user_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `account_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `last_used_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `gateway_session_user` (`user_id`),
  KEY `gateway_session_last_used` (`last_used_at`),
  KEY `FK_8d35454b87b5f163ac37fba5510` (`account_id`),
  CONSTRAINT `FK_8d35454b87b5f163ac37fba5510` FOREIGN KEY (`account_id`) REFERENCES `gateway_account` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION,
  CONSTRAINT `FK_d3b0ac4bf382520c6283dbaf23a` FOREIGN KEY (`user_id`) REFERENCES `gateway_user` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_session` DISABLE KEYS */;
INSERT INTO `gateway_session` VALUES
('cd57e353033920bc34ba255e106cb244c0e53fa11f025a81f866cc1ff5a89dfd','usr_test3','acc_RUQXgVo34DCuRBUXCuqRFw',1795790941693,1795790941693);
/*!40000 ALTER TABLE `gateway_session` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_smpp_credential` (
  `system_id` varchar(15) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `account_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `password_hash` varchar(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `last_bound_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`system_id`),
  KEY `gateway_smpp_credential_account` (`account_id`),
  CONSTRAINT `FK_6bee83af8856f5e0a4d29eaa75d` FOREIGN KEY (`account_id`) REFERENCES `gateway_account` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_smpp_credential` DISABLE KEYS */;
INSERT INTO `gateway_smpp_credential` VALUES
('smpplS4miXjK','acc_RUQXgVo34DCuRBUXCuqRFw','scrypt$32768$8$3$M0rvLB6tpQGsoHLjjuWr4Q$D7EcAyWdXw3FLwXyWkVopWX9YufrJoAw79War6q50xk',1795790946461,NULL);
/*!40000 ALTER TABLE `gateway_smpp_credential` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_smpp_delivery` (
  `position` bigint(20) NOT NULL AUTO_INCREMENT,
  `system_id` varchar(15) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `message_id` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `state` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `error` varchar(3) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '000',
  `source` varchar(21) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `destination` varchar(21) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `text` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `submitted_at` bigint(20) NOT NULL,
  `done_at` bigint(20) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `attempts` smallint(6) NOT NULL DEFAULT 0,
  `due_at` bigint(20) NOT NULL DEFAULT 0,
  PRIMARY KEY (`position`),
  KEY `gateway_smpp_delivery_created` (`created_at`),
  KEY `gateway_smpp_delivery_due` (`system_id`,`due_at`,`position`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_smpp_delivery` DISABLE KEYS */;
/*!40000 ALTER TABLE `gateway_smpp_delivery` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_smpp_part` (
  `system_id` varchar(15) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `message_key` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `part` smallint(6) NOT NULL,
  `message_id` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `sender` varchar(21) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `recipient` varchar(15) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `receipts` smallint(6) NOT NULL,
  `body` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `created_at` bigint(20) NOT NULL,
  PRIMARY KEY (`system_id`,`message_key`,`part`),
  KEY `gateway_smpp_part_created` (`created_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_smpp_part` DISABLE KEYS */;
/*!40000 ALTER TABLE `gateway_smpp_part` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_user` (
  `id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `email` varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `password` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `operator` smallint(6) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `last_sign_in_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `IDX_5e3bf5f02a164815ca5eb7c137` (`email`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_user` DISABLE KEYS */;
INSERT INTO `gateway_user` VALUES
('usr_test3','operator-3@example.com','scrypt$32768$8$3$YOf6DlipfBaY16PbZYd94g$jMtcGZWU5riQWDfKvWUJy4gplU6KHnhcVrbtspmc3d4',1,1795790941668,1795790941693);
/*!40000 ALTER TABLE `gateway_user` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_user_link` (
  `id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `fingerprint` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `kind` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `account_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `role` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `operator` smallint(6) NOT NULL,
  `user_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `email` varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `expires_at` bigint(20) NOT NULL,
  `used_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `IDX_c64ef9c5226bcaeb75784b1b98` (`fingerprint`),
  KEY `gateway_user_link_account` (`account_id`),
  KEY `FK_b2be60d3648459a850ad168eb56` (`user_id`),
  CONSTRAINT `FK_b2be60d3648459a850ad168eb56` FOREIGN KEY (`user_id`) REFERENCES `gateway_user` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION,
  CONSTRAINT `FK_ed4f68d7c22981f16d27b22780a` FOREIGN KEY (`account_id`) REFERENCES `gateway_account` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_user_link` DISABLE KEYS */;
INSERT INTO `gateway_user_link` VALUES
('lnk_QED3TFLNrftArufCJNfAs1','e0a3b24c7f3ceeddd704e12b2c46216671da94d441cd9c96bab8131221897e65','first','acc_RUQXgVo34DCuRBUXCuqRFw','admin',1,NULL,NULL,1795790941652,1795794541652,NULL);
/*!40000 ALTER TABLE `gateway_user_link` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_webhook_attempt` (
  `position` bigint(20) NOT NULL AUTO_INCREMENT,
  `endpoint_id` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `delivery_id` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `message_id` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `attempt` smallint(6) NOT NULL,
  `started_at` bigint(20) NOT NULL,
  `duration` int(11) NOT NULL,
  `status` smallint(6) DEFAULT NULL,
  `error` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `response` varchar(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  PRIMARY KEY (`position`),
  KEY `gateway_webhook_attempt_endpoint` (`endpoint_id`,`position`)
) ENGINE=InnoDB AUTO_INCREMENT=62 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_webhook_attempt` DISABLE KEYS */;
INSERT INTO `gateway_webhook_attempt` VALUES
(1,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-654c765fa9dc','01a21d7b-306d-7749-86d3-635cdda66372-0',1,1795790942596,10,500,'http_status','not today'),
(2,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-6a1e674d3401','01a21d7b-3053-765e-b726-b915447a04af-0',1,1795790942596,15,500,'http_status','not today'),
(3,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-6fc1260db449','01a21d7b-3053-765e-b726-b915447a04af-1',1,1795790942597,16,500,'http_status','not today'),
(4,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-7271abe652e8','01a21d7b-3053-765e-b726-b915447a04af-2',1,1795790942597,16,500,'http_status','not today'),
(5,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3145-756d-837f-c6967292f33f','01a21d7b-3053-765e-b726-b915447a04af-0',1,1795790942612,1,500,'http_status','not today'),
(6,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-77979469c7aa','01a21d7b-3053-765e-b726-b915447a04af-3',1,1795790942597,16,500,'http_status','not today'),
(7,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3154-773c-9515-a4db6b61f404','01a21d7b-3053-765e-b726-b915447a04af-1',1,1795790942613,1,500,'http_status','not today'),
(8,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-79b51513997a','01a21d7b-3053-765e-b726-b915447a04af-4',1,1795790942597,17,500,'http_status','not today'),
(9,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-317a-7428-b5fd-067653efa749','01a21d7b-3053-765e-b726-b915447a04af-2',1,1795790942613,1,500,'http_status','not today'),
(10,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3145-756d-837f-c30a455e47e0','01a21d7b-3053-765e-b726-b915447a04af-3',1,1795790942613,1,500,'http_status','not today'),
(11,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3154-773c-9515-a82394d5b409','01a21d7b-3053-765e-b726-b915447a04af-4',1,1795790942614,0,500,'http_status','not today'),
(16,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-31a6-74ce-9fb8-8cf8a715e6ea','01a21d7b-30f8-706c-ab96-9510b988f9df-0',1,1795790942644,4,500,'http_status','not today'),
(17,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-31e2-729f-a9ad-87924bef8d3a','01a21d7b-30f8-706c-ab96-9510b988f9df-0',1,1795790942696,1,500,'http_status','not today'),
(18,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-31f6-755f-b535-6673e23c9246','01a21d7b-30f8-706c-ab96-9510b988f9df-0',1,1795790942731,3,500,'http_status','not today'),
(19,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3248-72ae-81e1-c06ceb6665db','01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0',1,1795790942824,3,500,'http_status','not today'),
(20,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-32e5-73b6-bc68-9335bae9da26','01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0',1,1795790942992,2,500,'http_status','not today'),
(21,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3313-764b-8165-3fc82c39031e','01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0',1,1795790943016,2,500,'http_status','not today'),
(22,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-35df-7458-8a18-13588c0350a8','wamid.DNjibDQC48G3GM91f5WmzlF3g8p9MoeB',1,1795790943730,1,500,'http_status','not today'),
(23,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-375c-740e-8336-efef4163acf2','01a21d7b-3640-718a-a569-cc9ab6405064-0',1,1795790944148,3,500,'http_status','not today'),
(24,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-375c-740e-8336-f0fdbc736c8c','01a21d7b-368f-73fb-870c-495db175f583-0',1,1795790944148,2,500,'http_status','not today'),
(26,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-37ca-7104-bfb9-2fd84e6048a9','01a21d7b-368f-73fb-870c-495db175f583-0',1,1795790944227,1,500,'http_status','not today'),
(27,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3810-713b-b8b1-7bd6d6160ba6','01a21d7b-3640-718a-a569-cc9ab6405064-0',1,1795790944295,1,500,'http_status','not today'),
(28,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3b7f-72f5-ba6b-dfa06b097b39','01a21d7b-3b30-743f-9989-64a1f6af85bb-0',1,1795790945176,2,500,'http_status','not today'),
(29,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3b7f-72f5-ba6b-e20dc1a327de','01a21d7b-3b38-73dd-8dcd-0a09143f5225-0',1,1795790945176,2,500,'http_status','not today'),
(31,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3bb5-705a-b14c-38d4e4047859','01a21d7b-3b30-743f-9989-64a1f6af85bb-0',1,1795790945236,1,500,'http_status','not today'),
(32,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3d4d-705d-a47d-48eb7160b1bd','01a21d7b-3cfb-7778-8fb5-6ab5502c6d71-0',1,1795790945627,1,500,'http_status','not today'),
(33,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-7271abe652e8','01a21d7b-3053-765e-b726-b915447a04af-2',2,1795790947705,1,500,'http_status','not today'),
(34,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3154-773c-9515-a4db6b61f404','01a21d7b-3053-765e-b726-b915447a04af-1',2,1795790947731,1,500,'http_status','not today'),
(35,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-6a1e674d3401','01a21d7b-3053-765e-b726-b915447a04af-0',2,1795790947736,1,500,'http_status','not today'),
(36,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3145-756d-837f-c6967292f33f','01a21d7b-3053-765e-b726-b915447a04af-0',2,1795790947762,1,500,'http_status','not today'),
(37,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3145-756d-837f-c30a455e47e0','01a21d7b-3053-765e-b726-b915447a04af-3',2,1795790947781,1,500,'http_status','not today'),
(38,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-31e2-729f-a9ad-87924bef8d3a','01a21d7b-30f8-706c-ab96-9510b988f9df-0',2,1795790947913,1,500,'http_status','not today'),
(39,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-31a6-74ce-9fb8-8cf8a715e6ea','01a21d7b-30f8-706c-ab96-9510b988f9df-0',2,1795790947913,1,500,'http_status','not today'),
(41,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-6fc1260db449','01a21d7b-3053-765e-b726-b915447a04af-1',2,1795790947917,1,500,'http_status','not today'),
(42,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3154-773c-9515-a82394d5b409','01a21d7b-3053-765e-b726-b915447a04af-4',2,1795790947917,0,500,'http_status','not today'),
(44,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-317a-7428-b5fd-067653efa749','01a21d7b-3053-765e-b726-b915447a04af-2',2,1795790947949,1,500,'http_status','not today'),
(45,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-654c765fa9dc','01a21d7b-306d-7749-86d3-635cdda66372-0',2,1795790947956,1,500,'http_status','not today'),
(47,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3248-72ae-81e1-c06ceb6665db','01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0',2,1795790947973,1,500,'http_status','not today'),
(48,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-77979469c7aa','01a21d7b-3053-765e-b726-b915447a04af-3',2,1795790948054,1,500,'http_status','not today'),
(49,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3313-764b-8165-3fc82c39031e','01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0',2,1795790948057,0,500,'http_status','not today'),
(50,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3101-72cc-b7f2-79b51513997a','01a21d7b-3053-765e-b726-b915447a04af-4',2,1795790948079,1,500,'http_status','not today'),
(51,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-31f6-755f-b535-6673e23c9246','01a21d7b-30f8-706c-ab96-9510b988f9df-0',2,1795790948093,1,500,'http_status','not today'),
(52,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-32e5-73b6-bc68-9335bae9da26','01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0',2,1795790948463,1,500,'http_status','not today'),
(53,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-35df-7458-8a18-13588c0350a8','wamid.DNjibDQC48G3GM91f5WmzlF3g8p9MoeB',2,1795790948940,1,500,'http_status','not today'),
(54,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-375c-740e-8336-f0fdbc736c8c','01a21d7b-368f-73fb-870c-495db175f583-0',2,1795790949398,1,500,'http_status','not today'),
(55,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3810-713b-b8b1-7bd6d6160ba6','01a21d7b-3640-718a-a569-cc9ab6405064-0',2,1795790949432,1,500,'http_status','not today'),
(56,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-375c-740e-8336-efef4163acf2','01a21d7b-3640-718a-a569-cc9ab6405064-0',2,1795790949557,1,500,'http_status','not today'),
(57,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-37ca-7104-bfb9-2fd84e6048a9','01a21d7b-368f-73fb-870c-495db175f583-0',2,1795790949576,1,500,'http_status','not today'),
(58,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3bb5-705a-b14c-38d4e4047859','01a21d7b-3b30-743f-9989-64a1f6af85bb-0',2,1795790950570,1,500,'http_status','not today'),
(59,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3b7f-72f5-ba6b-dfa06b097b39','01a21d7b-3b30-743f-9989-64a1f6af85bb-0',2,1795790950618,1,500,'http_status','not today'),
(60,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3b7f-72f5-ba6b-e20dc1a327de','01a21d7b-3b38-73dd-8dcd-0a09143f5225-0',2,1795790950686,1,500,'http_status','not today'),
(61,'01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3d4d-705d-a47d-48eb7160b1bd','01a21d7b-3cfb-7778-8fb5-6ab5502c6d71-0',2,1795790950796,1,NULL,'connection_refused',NULL);
/*!40000 ALTER TABLE `gateway_webhook_attempt` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_webhook_delivery` (
  `position` bigint(20) NOT NULL AUTO_INCREMENT,
  `id` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `endpoint_id` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `message_id` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `sequence` int(11) NOT NULL,
  `payload` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `attempts` smallint(6) NOT NULL DEFAULT 0,
  `revision` int(11) NOT NULL DEFAULT 0,
  `due_at` bigint(20) DEFAULT 0,
  `delivered_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`position`),
  UNIQUE KEY `gateway_webhook_delivery_id` (`endpoint_id`,`id`),
  KEY `gateway_webhook_delivery_due` (`endpoint_id`,`due_at`,`position`)
) ENGINE=InnoDB AUTO_INCREMENT=32 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_webhook_delivery` DISABLE KEYS */;
INSERT INTO `gateway_webhook_delivery` VALUES
(1,'01a21d7b-3101-72cc-b7f2-654c765fa9dc','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-306d-7749-86d3-635cdda66372-0',1,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:02.465Z\",\"data\":{\"reference_id\":\"01a21d7b-306d-7749-86d3-635cdda66372\",\"message_id\":\"01a21d7b-306d-7749-86d3-635cdda66372-0\",\"to\":\"2348012349903\",\"from\":\"ACME\",\"status\":\"rejected\",\"error_code\":\"destination_refused\",\"smsc_timestamp\":\"2026-11-27T14:49:02.399Z\",\"sequence\":1}}',1795790942465,2,2,1795791262552,NULL),
(2,'01a21d7b-3101-72cc-b7f2-6a1e674d3401','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3053-765e-b726-b915447a04af-0',1,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:02.465Z\",\"data\":{\"reference_id\":\"01a21d7b-3053-765e-b726-b915447a04af\",\"message_id\":\"01a21d7b-3053-765e-b726-b915447a04af-0\",\"to\":\"2348012345601\",\"from\":\"ACME\",\"status\":\"sent\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.399Z\",\"sequence\":1}}',1795790942465,2,2,1795791271428,NULL),
(3,'01a21d7b-3101-72cc-b7f2-6fc1260db449','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3053-765e-b726-b915447a04af-1',1,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:02.465Z\",\"data\":{\"reference_id\":\"01a21d7b-3053-765e-b726-b915447a04af\",\"message_id\":\"01a21d7b-3053-765e-b726-b915447a04af-1\",\"to\":\"2348012345602\",\"from\":\"ACME\",\"status\":\"sent\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.399Z\",\"sequence\":1}}',1795790942465,2,2,1795791261578,NULL),
(4,'01a21d7b-3101-72cc-b7f2-7271abe652e8','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3053-765e-b726-b915447a04af-2',1,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:02.465Z\",\"data\":{\"reference_id\":\"01a21d7b-3053-765e-b726-b915447a04af\",\"message_id\":\"01a21d7b-3053-765e-b726-b915447a04af-2\",\"to\":\"2348012345603\",\"from\":\"ACME\",\"status\":\"sent\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.399Z\",\"sequence\":1}}',1795790942465,2,2,1795791250886,NULL),
(5,'01a21d7b-3101-72cc-b7f2-77979469c7aa','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3053-765e-b726-b915447a04af-3',1,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:02.465Z\",\"data\":{\"reference_id\":\"01a21d7b-3053-765e-b726-b915447a04af\",\"message_id\":\"01a21d7b-3053-765e-b726-b915447a04af-3\",\"to\":\"2348012349901\",\"from\":\"ACME\",\"status\":\"sent\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.399Z\",\"sequence\":1}}',1795790942465,2,2,1795791252547,NULL),
(6,'01a21d7b-3101-72cc-b7f2-79b51513997a','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3053-765e-b726-b915447a04af-4',1,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:02.465Z\",\"data\":{\"reference_id\":\"01a21d7b-3053-765e-b726-b915447a04af\",\"message_id\":\"01a21d7b-3053-765e-b726-b915447a04af-4\",\"to\":\"2348012349902\",\"from\":\"ACME\",\"status\":\"sent\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.399Z\",\"sequence\":1}}',1795790942465,2,2,1795791261946,NULL),
(8,'01a21d7b-3145-756d-837f-c30a455e47e0','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3053-765e-b726-b915447a04af-3',2,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:02.533Z\",\"data\":{\"reference_id\":\"01a21d7b-3053-765e-b726-b915447a04af\",\"message_id\":\"01a21d7b-3053-765e-b726-b915447a04af-3\",\"to\":\"2348012349901\",\"from\":\"ACME\",\"status\":\"undelivered\",\"error_code\":\"absent_subscriber\",\"smsc_timestamp\":\"2026-11-27T14:49:02.398Z\",\"sequence\":2}}',1795790942533,2,2,1795791258969,NULL),
(9,'01a21d7b-3145-756d-837f-c6967292f33f','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3053-765e-b726-b915447a04af-0',2,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:02.533Z\",\"data\":{\"reference_id\":\"01a21d7b-3053-765e-b726-b915447a04af\",\"message_id\":\"01a21d7b-3053-765e-b726-b915447a04af-0\",\"to\":\"2348012345601\",\"from\":\"ACME\",\"status\":\"delivered\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.382Z\",\"sequence\":2}}',1795790942533,2,2,1795791257198,NULL),
(11,'01a21d7b-3154-773c-9515-a4db6b61f404','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3053-765e-b726-b915447a04af-1',2,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:02.548Z\",\"data\":{\"reference_id\":\"01a21d7b-3053-765e-b726-b915447a04af\",\"message_id\":\"01a21d7b-3053-765e-b726-b915447a04af-1\",\"to\":\"2348012345602\",\"from\":\"ACME\",\"status\":\"delivered\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.418Z\",\"sequence\":2}}',1795790942548,2,2,1795791274459,NULL),
(12,'01a21d7b-3154-773c-9515-a82394d5b409','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3053-765e-b726-b915447a04af-4',2,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:02.548Z\",\"data\":{\"reference_id\":\"01a21d7b-3053-765e-b726-b915447a04af\",\"message_id\":\"01a21d7b-3053-765e-b726-b915447a04af-4\",\"to\":\"2348012349902\",\"from\":\"ACME\",\"status\":\"expired\",\"error_code\":\"validity_expired\",\"smsc_timestamp\":\"2026-11-27T14:49:02.393Z\",\"sequence\":2}}',1795790942548,2,2,1795791268664,NULL),
(14,'01a21d7b-317a-7428-b5fd-067653efa749','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3053-765e-b726-b915447a04af-2',2,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:02.586Z\",\"data\":{\"reference_id\":\"01a21d7b-3053-765e-b726-b915447a04af\",\"message_id\":\"01a21d7b-3053-765e-b726-b915447a04af-2\",\"to\":\"2348012345603\",\"from\":\"ACME\",\"status\":\"delivered\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.402Z\",\"sequence\":2}}',1795790942586,2,2,1795791265545,NULL),
(15,'01a21d7b-31a6-74ce-9fb8-8cf8a715e6ea','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-30f8-706c-ab96-9510b988f9df-0',1,'{\"type\":\"whatsapp.message_status\",\"timestamp\":\"2026-11-27T14:49:02.630Z\",\"data\":{\"reference_id\":\"01a21d7b-30f8-706c-ab96-9510b988f9df-0\",\"message_id\":\"wamid.RkVTsykd8a8MUWNGKyTlMnQdD6-QVMKr\",\"to\":\"2348012349910\",\"from\":\"2340670027151\",\"status\":\"sent\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.612Z\",\"sequence\":1}}',1795790942630,2,2,1795791259810,NULL),
(16,'01a21d7b-31e2-729f-a9ad-87924bef8d3a','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-30f8-706c-ab96-9510b988f9df-0',2,'{\"type\":\"whatsapp.message_status\",\"timestamp\":\"2026-11-27T14:49:02.690Z\",\"data\":{\"reference_id\":\"01a21d7b-30f8-706c-ab96-9510b988f9df-0\",\"message_id\":\"wamid.RkVTsykd8a8MUWNGKyTlMnQdD6-QVMKr\",\"to\":\"2348012349910\",\"from\":\"2340670027151\",\"status\":\"delivered\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.591Z\",\"sequence\":2}}',1795790942690,2,2,1795791270178,NULL),
(17,'01a21d7b-31f6-755f-b535-6673e23c9246','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-30f8-706c-ab96-9510b988f9df-0',3,'{\"type\":\"whatsapp.message_status\",\"timestamp\":\"2026-11-27T14:49:02.710Z\",\"data\":{\"reference_id\":\"01a21d7b-30f8-706c-ab96-9510b988f9df-0\",\"message_id\":\"wamid.RkVTsykd8a8MUWNGKyTlMnQdD6-QVMKr\",\"to\":\"2348012349910\",\"from\":\"2340670027151\",\"status\":\"read\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.592Z\",\"sequence\":3}}',1795790942710,2,2,1795791260555,NULL),
(18,'01a21d7b-3248-72ae-81e1-c06ceb6665db','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0',1,'{\"type\":\"whatsapp.message_status\",\"timestamp\":\"2026-11-27T14:49:02.792Z\",\"data\":{\"reference_id\":\"01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0\",\"message_id\":\"wamid.3eAteILK3gtJKdBvz6tvZRreSplsqxvf\",\"to\":\"2348012345611\",\"from\":\"2340670027151\",\"status\":\"sent\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.775Z\",\"sequence\":1}}',1795790942792,2,2,1795791257307,NULL),
(19,'01a21d7b-32e5-73b6-bc68-9335bae9da26','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0',2,'{\"type\":\"whatsapp.message_status\",\"timestamp\":\"2026-11-27T14:49:02.949Z\",\"data\":{\"reference_id\":\"01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0\",\"message_id\":\"wamid.3eAteILK3gtJKdBvz6tvZRreSplsqxvf\",\"to\":\"2348012345611\",\"from\":\"2340670027151\",\"status\":\"delivered\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.791Z\",\"sequence\":2}}',1795790942949,2,2,1795791270185,NULL),
(20,'01a21d7b-3313-764b-8165-3fc82c39031e','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0',3,'{\"type\":\"whatsapp.message_status\",\"timestamp\":\"2026-11-27T14:49:02.995Z\",\"data\":{\"reference_id\":\"01a21d7b-31de-748c-b9e2-8fed30a8ed8f-0\",\"message_id\":\"wamid.3eAteILK3gtJKdBvz6tvZRreSplsqxvf\",\"to\":\"2348012345611\",\"from\":\"2340670027151\",\"status\":\"read\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:02.792Z\",\"sequence\":3}}',1795790942995,2,2,1795791273564,NULL),
(21,'01a21d7b-35df-7458-8a18-13588c0350a8','01a21d7b-2e21-750e-9b81-794c417a37ca','wamid.DNjibDQC48G3GM91f5WmzlF3g8p9MoeB',1,'{\"type\":\"whatsapp.message_received\",\"timestamp\":\"2026-11-27T14:49:03.711Z\",\"data\":{\"message_id\":\"wamid.DNjibDQC48G3GM91f5WmzlF3g8p9MoeB\",\"from\":\"2348012349910\",\"bsuid\":null,\"to\":\"2340670027151\",\"text\":\"Hello\",\"received_at\":\"2026-11-27T14:49:03.680Z\"}}',1795790943711,2,2,1795791249896,NULL),
(22,'01a21d7b-375c-740e-8336-efef4163acf2','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3640-718a-a569-cc9ab6405064-0',1,'{\"type\":\"email.sent\",\"timestamp\":\"2026-11-27T14:49:04.091Z\",\"data\":{\"reference_id\":\"01a21d7b-3640-718a-a569-cc9ab6405064\",\"message_id\":\"01a21d7b-3640-718a-a569-cc9ab6405064-0\",\"to\":\"ada@example.com\",\"from\":\"hello@demo.test\",\"status\":\"sent\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:04.024Z\",\"sequence\":1,\"tags\":[\"orders\"],\"metadata\":{},\"bounce\":null}}',1795790944091,2,2,1795791261761,NULL),
(23,'01a21d7b-375c-740e-8336-f0fdbc736c8c','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-368f-73fb-870c-495db175f583-0',1,'{\"type\":\"email.sent\",\"timestamp\":\"2026-11-27T14:49:04.091Z\",\"data\":{\"reference_id\":\"01a21d7b-368f-73fb-870c-495db175f583\",\"message_id\":\"01a21d7b-368f-73fb-870c-495db175f583-0\",\"to\":\"bounced@example.com\",\"from\":\"hello@demo.test\",\"status\":\"sent\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:04.024Z\",\"sequence\":1,\"tags\":[\"orders\"],\"metadata\":{},\"bounce\":null}}',1795790944091,2,2,1795791252876,NULL),
(25,'01a21d7b-37ca-7104-bfb9-2fd84e6048a9','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-368f-73fb-870c-495db175f583-0',2,'{\"type\":\"email.bounced\",\"timestamp\":\"2026-11-27T14:49:04.202Z\",\"data\":{\"reference_id\":\"01a21d7b-368f-73fb-870c-495db175f583\",\"message_id\":\"01a21d7b-368f-73fb-870c-495db175f583-0\",\"to\":\"bounced@example.com\",\"from\":\"hello@demo.test\",\"status\":\"bounced\",\"error_code\":\"5.1.1\",\"smsc_timestamp\":\"2026-11-27T14:49:03.976Z\",\"sequence\":2,\"tags\":[\"orders\"],\"metadata\":{},\"bounce\":{\"category\":\"recipient\",\"smtp_code\":550,\"enhanced_code\":\"5.1.1\",\"diagnostic\":\"550 5.1.1 No such user here\",\"remote_mta\":\"mx.simulator.test\"}}}',1795790944202,2,2,1795791250119,NULL),
(26,'01a21d7b-3810-713b-b8b1-7bd6d6160ba6','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3640-718a-a569-cc9ab6405064-0',2,'{\"type\":\"email.delivered\",\"timestamp\":\"2026-11-27T14:49:04.272Z\",\"data\":{\"reference_id\":\"01a21d7b-3640-718a-a569-cc9ab6405064\",\"message_id\":\"01a21d7b-3640-718a-a569-cc9ab6405064-0\",\"to\":\"ada@example.com\",\"from\":\"hello@demo.test\",\"status\":\"delivered\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:03.975Z\",\"sequence\":2,\"tags\":[\"orders\"],\"metadata\":{},\"bounce\":null}}',1795790944272,2,2,1795791263929,NULL),
(27,'01a21d7b-3b7f-72f5-ba6b-dfa06b097b39','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3b30-743f-9989-64a1f6af85bb-0',1,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:05.151Z\",\"data\":{\"reference_id\":\"01a21d7b-3b30-743f-9989-64a1f6af85bb\",\"message_id\":\"01a21d7b-3b30-743f-9989-64a1f6af85bb-0\",\"to\":\"233201234501\",\"from\":\"ACME\",\"status\":\"sent\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:05.130Z\",\"sequence\":1}}',1795790945151,2,2,1795791267778,NULL),
(28,'01a21d7b-3b7f-72f5-ba6b-e20dc1a327de','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3b38-73dd-8dcd-0a09143f5225-0',1,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:05.151Z\",\"data\":{\"reference_id\":\"01a21d7b-3b38-73dd-8dcd-0a09143f5225\",\"message_id\":\"01a21d7b-3b38-73dd-8dcd-0a09143f5225-0\",\"to\":\"233201234502\",\"from\":\"ACME\",\"status\":\"sent\",\"error_code\":null,\"smsc_timestamp\":\"2026-11-27T14:49:05.130Z\",\"sequence\":1}}',1795790945151,2,2,1795791259820,NULL),
(30,'01a21d7b-3bb5-705a-b14c-38d4e4047859','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3b30-743f-9989-64a1f6af85bb-0',2,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:05.205Z\",\"data\":{\"reference_id\":\"01a21d7b-3b30-743f-9989-64a1f6af85bb\",\"message_id\":\"01a21d7b-3b30-743f-9989-64a1f6af85bb-0\",\"to\":\"233201234501\",\"from\":\"ACME\",\"status\":\"delivered\",\"error_code\":null,\"smsc_timestamp\":\"2026-01-02T03:04:05.678Z\",\"sequence\":2}}',1795790945205,2,2,1795791274816,NULL),
(31,'01a21d7b-3d4d-705d-a47d-48eb7160b1bd','01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-3cfb-7778-8fb5-6ab5502c6d71-0',1,'{\"type\":\"sms.delivery_report\",\"timestamp\":\"2026-11-27T14:49:05.613Z\",\"data\":{\"reference_id\":\"01a21d7b-3cfb-7778-8fb5-6ab5502c6d71\",\"message_id\":\"01a21d7b-3cfb-7778-8fb5-6ab5502c6d71-0\",\"to\":\"2348012349903\",\"from\":\"ACME\",\"status\":\"rejected\",\"error_code\":\"destination_refused\",\"smsc_timestamp\":\"2026-11-27T14:49:05.584Z\",\"sequence\":1}}',1795790945613,2,2,1795791268440,NULL);
/*!40000 ALTER TABLE `gateway_webhook_delivery` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_webhook_endpoint` (
  `id` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `account_id` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `slot` smallint(6) NOT NULL,
  `url` varchar(2048) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `secret` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `previous_secrets` varchar(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `previous_until` bigint(20) DEFAULT NULL,
  `events` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `disabled_at` bigint(20) DEFAULT NULL,
  `disabled_reason` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `failing_since` bigint(20) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `gateway_webhook_endpoint_slot` (`account_id`,`slot`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_webhook_endpoint` DISABLE KEYS */;
INSERT INTO `gateway_webhook_endpoint` VALUES
('01a21d7b-2e21-750e-9b81-794c417a37ca','acc_RUQXgVo34DCuRBUXCuqRFw',0,'http://127.0.0.1:43017/hooks','enc1.b28bfe26.krraSHi8inkCdiHmlXwU3-hwqQD5Y43I4gwkGNvrQfiTNXiXO6olpAXGRGyELXxqNuM9I4oaFLs-TiB99bkX8LHiaDuRH-mrDOnLnZ9q',NULL,NULL,NULL,NULL,NULL,1795790942596,1795790941729);
/*!40000 ALTER TABLE `gateway_webhook_endpoint` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_whatsapp_number` (
  `number` varchar(15) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `account_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `phone_number_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `waba` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `templates_due_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`number`),
  UNIQUE KEY `IDX_146547e2e7dc3e588d4d20d106` (`phone_number_id`),
  KEY `gateway_whatsapp_number_account` (`account_id`),
  KEY `gateway_whatsapp_number_waba` (`waba`),
  KEY `gateway_whatsapp_number_templates` (`templates_due_at`),
  CONSTRAINT `FK_2146143313e1da785169eedf5ec` FOREIGN KEY (`account_id`) REFERENCES `gateway_account` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_whatsapp_number` DISABLE KEYS */;
INSERT INTO `gateway_whatsapp_number` VALUES
('2340250679680','acc_yvRzdBNiCICuf2196nD1UJ',1795790945040,NULL,NULL,NULL),
('2340670027151','acc_RUQXgVo34DCuRBUXCuqRFw',1795790941618,NULL,NULL,NULL);
/*!40000 ALTER TABLE `gateway_whatsapp_number` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_whatsapp_template` (
  `account_id` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `name` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `language` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `category` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `status` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `params_count` int(11) NOT NULL,
  `param_names` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `waba` varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  PRIMARY KEY (`account_id`,`name`,`language`),
  KEY `gateway_whatsapp_template_waba` (`waba`),
  CONSTRAINT `FK_cce5116f03f6f3726fd634480ee` FOREIGN KEY (`account_id`) REFERENCES `gateway_account` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_whatsapp_template` DISABLE KEYS */;
INSERT INTO `gateway_whatsapp_template` VALUES
('acc_RUQXgVo34DCuRBUXCuqRFw','login_code','en','authentication','approved',1,NULL,NULL),
('acc_RUQXgVo34DCuRBUXCuqRFw','order_update','en','utility','approved',2,NULL,NULL),
('acc_RUQXgVo34DCuRBUXCuqRFw','special_offer','en','marketing','approved',1,NULL,NULL),
('acc_yvRzdBNiCICuf2196nD1UJ','login_code','en','authentication','approved',1,NULL,NULL),
('acc_yvRzdBNiCICuf2196nD1UJ','order_update','en','utility','approved',2,NULL,NULL),
('acc_yvRzdBNiCICuf2196nD1UJ','special_offer','en','marketing','approved',1,NULL,NULL);
/*!40000 ALTER TABLE `gateway_whatsapp_template` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `gateway_write_probe` (
  `id` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `filler` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `gateway_write_probe` DISABLE KEYS */;
/*!40000 ALTER TABLE `gateway_write_probe` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_batch` (
  `id` char(36) NOT NULL,
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `channel` varchar(16) NOT NULL,
  `lane` varchar(255) NOT NULL,
  `priority` smallint(6) NOT NULL,
  `sender` varchar(255) NOT NULL,
  `content` longtext DEFAULT NULL,
  `delivery_report` smallint(6) NOT NULL,
  `parts` smallint(6) NOT NULL,
  `recipient_count` int(11) NOT NULL,
  `labelled` smallint(6) NOT NULL DEFAULT 0,
  `denied` int(11) NOT NULL DEFAULT 0,
  `created_at` bigint(20) NOT NULL,
  `send_at` bigint(20) DEFAULT NULL,
  `available_at` bigint(20) NOT NULL,
  `valid_until` bigint(20) DEFAULT NULL,
  `state` smallint(6) NOT NULL,
  `parked_until` bigint(20) NOT NULL DEFAULT 0,
  `revision` int(11) NOT NULL DEFAULT 0,
  `idempotency_key` varchar(255) DEFAULT NULL,
  `fingerprint` varchar(255) DEFAULT NULL,
  `in_doubt_at` bigint(20) DEFAULT NULL,
  `notification` char(36) DEFAULT NULL,
  `completed_at` bigint(20) DEFAULT NULL,
  `poll_at` bigint(20) DEFAULT NULL,
  `polls` smallint(6) NOT NULL DEFAULT 0,
  `has_work` smallint(6) GENERATED ALWAYS AS (case when `state` < 4 then 1 else 0 end) STORED,
  PRIMARY KEY (`id`),
  UNIQUE KEY `messaging_batch_idempotency` (`tenant`,`channel`,`idempotency_key`),
  KEY `messaging_batch_queue` (`has_work`,`lane`,`priority`,`parked_until`,`available_at`,`id`),
  KEY `messaging_batch_content` (`completed_at`),
  KEY `messaging_batch_poll` (`poll_at`),
  KEY `messaging_batch_list` (`tenant`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_batch` DISABLE KEYS */;
INSERT INTO `messaging_batch` VALUES
('01a21d7b-3053-765e-b726-b915447a04af','acc_RUQXgVo34DCuRBUXCuqRFw','sms','acc_RUQXgVo34DCuRBUXCuqRFw:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"Your order 1001 is on its way. Track it at acme.test/1001\"}',1,1,5,0,0,1795790942291000,NULL,1795790942295294,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790942399000,1795791002399000,0,0),
('01a21d7b-306d-7749-86d3-635cdda66372','acc_RUQXgVo34DCuRBUXCuqRFw','sms','acc_RUQXgVo34DCuRBUXCuqRFw:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"Your code is 4711\"}',1,1,1,0,0,1795790942317000,NULL,1795790942325714,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790942399000,1795791002399000,0,0),
('01a21d7b-3092-7563-8a6f-ef9cd7e96adf','acc_RUQXgVo34DCuRBUXCuqRFw','sms','acc_RUQXgVo34DCuRBUXCuqRFw:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"See you tomorrow\"}',1,1,1,0,0,1795790942355000,5680314000000000,5680314000000000,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,0,1),
('01a21d7b-30f8-706c-ab96-9510b988f9df','acc_RUQXgVo34DCuRBUXCuqRFw','whatsapp','acc_RUQXgVo34DCuRBUXCuqRFw:whatsapp',1,'2340670027151','{\"kind\":\"template\",\"template\":\"order_update\",\"language\":\"en\",\"params\":[\"Ada\",\"1001\"],\"category\":\"utility\"}',1,0,1,0,0,1795790942456000,NULL,1795790942476891,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790942612000,1795791002612000,0,0),
('01a21d7b-31de-748c-b9e2-8fed30a8ed8f','acc_RUQXgVo34DCuRBUXCuqRFw','whatsapp','acc_RUQXgVo34DCuRBUXCuqRFw:whatsapp',1,'2340670027151','{\"kind\":\"template\",\"template\":\"order_update\",\"language\":\"en\",\"params\":[\"Ada\",\"1001\"],\"category\":\"utility\"}',1,0,1,0,0,1795790942686000,NULL,1795790942706974,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790942775000,1795791002775000,0,0),
('01a21d7b-3640-718a-a569-cc9ab6405064','acc_RUQXgVo34DCuRBUXCuqRFw','email','acc_RUQXgVo34DCuRBUXCuqRFw:email',1,'hello@demo.test','{\"kind\":\"email\",\"from\":{\"email\":\"hello@demo.test\",\"name\":\"Acme\"},\"to\":[{\"email\":\"ada@example.com\"}],\"subject\":\"Order 1001 is on its way\",\"text\":\"Order 1001 left our warehouse this morning.\",\"html\":\"<h1 style=\\\"color:#4338ca\\\">Your order is on its way</h1>\\n<p style=\\\"font-family:sans-serif\\\">Order <b>1001</b> left our warehouse this morning.</p>\",\"$labels\":{\"tags\":[\"orders\"],\"metadata\":{}}}',1,0,1,1,0,1795790943808000,NULL,1795790943824097,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790944024000,1795791004024000,0,0),
('01a21d7b-368f-73fb-870c-495db175f583','acc_RUQXgVo34DCuRBUXCuqRFw','email','acc_RUQXgVo34DCuRBUXCuqRFw:email',1,'hello@demo.test','{\"kind\":\"email\",\"from\":{\"email\":\"hello@demo.test\",\"name\":\"Acme\"},\"to\":[{\"email\":\"bounced@example.com\"}],\"subject\":\"Order 1001 is on its way\",\"text\":\"Order 1001 left our warehouse this morning.\",\"html\":\"<h1 style=\\\"color:#4338ca\\\">Your order is on its way</h1>\\n<p style=\\\"font-family:sans-serif\\\">Order <b>1001</b> left our warehouse this morning.</p>\",\"$labels\":{\"tags\":[\"orders\"],\"metadata\":{}}}',1,0,1,1,0,1795790943887000,NULL,1795790943899158,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790944024000,1795791004024000,0,0),
('01a21d7b-3754-72ee-8228-d824e2ee27ff','acc_RUQXgVo34DCuRBUXCuqRFw','voice','acc_RUQXgVo34DCuRBUXCuqRFw:voice',1,'2348000000001','{\"kind\":\"call\",\"text\":\"Press one\",\"repeat\":1,\"ringTimeout\":30000,\"maxDuration\":600000,\"machine\":\"play\",\"collect\":{\"maxDigits\":1,\"timeout\":5000},\"category\":\"transactional\"}',0,0,1,0,0,1795790944084000,NULL,1795790944098192,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790944308000,1795791004308000,0,0),
('01a21d7b-379f-7138-be8e-85ddaccb46c0','acc_RUQXgVo34DCuRBUXCuqRFw','voice','acc_RUQXgVo34DCuRBUXCuqRFw:voice',1,'2348000000001','{\"kind\":\"call\",\"text\":\"Press one\",\"repeat\":1,\"ringTimeout\":30000,\"maxDuration\":600000,\"machine\":\"play\",\"collect\":{\"maxDigits\":1,\"timeout\":5000},\"category\":\"transactional\"}',0,0,1,0,0,1795790944159000,NULL,1795790944181140,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790944308000,1795791004308000,0,0),
('01a21d7b-37d0-7772-b236-f3b6623bf83b','acc_RUQXgVo34DCuRBUXCuqRFw','vas','acc_RUQXgVo34DCuRBUXCuqRFw:vas',1,'','{\"kind\":\"vas.airtime\",\"product\":\"airtime-ng\",\"amount\":\"100\",\"currency\":\"NGN\",\"network\":null,\"key\":\"dundun-b6dda9f1037d1ca0b606c2411341521cd4130ef3\"}',0,0,1,0,0,1795790944208000,NULL,1795790944246131,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790944522000,1795791004522000,0,0),
('01a21d7b-3815-74f9-9648-94ff31979381','acc_RUQXgVo34DCuRBUXCuqRFw','vas','acc_RUQXgVo34DCuRBUXCuqRFw:vas',1,'','{\"kind\":\"vas.airtime\",\"product\":\"airtime-ng\",\"amount\":\"100\",\"currency\":\"NGN\",\"network\":null,\"key\":\"dundun-9151273a5286644382ec389a9f3bd5bf38a4d21d\"}',0,0,1,0,0,1795790944277000,NULL,1795790944300125,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790944522000,1795790949522000,0,0),
('01a21d7b-38c0-77ee-b8ff-65c3d0f1dc55','acc_RUQXgVo34DCuRBUXCuqRFw','sms','acc_RUQXgVo34DCuRBUXCuqRFw:sms',0,'ACME','{\"kind\":\"text\",\"text\":\"548684 is your code. It is valid for 10 minutes. Do not share it.\",\"secret\":true}',0,1,1,0,0,1795790944448000,NULL,1795790944456324,1795791544456324,5,0,0,NULL,NULL,NULL,NULL,1795790944588000,1795791004588000,0,0),
('01a21d7b-3939-77c9-bebc-f826b3cea956','acc_RUQXgVo34DCuRBUXCuqRFw','voice','acc_RUQXgVo34DCuRBUXCuqRFw:voice',0,'2348000000001','{\"kind\":\"call\",\"code\":\"570608\",\"repeat\":1,\"ringTimeout\":30000,\"maxDuration\":600000,\"machine\":\"play\",\"category\":\"transactional\",\"secret\":true}',0,0,1,0,0,1795790944569000,NULL,1795790944571242,1795791544571242,5,0,0,NULL,NULL,NULL,NULL,1795790944667000,1795791004667000,0,0),
('01a21d7b-3974-706c-9270-8abd54c986c5','acc_RUQXgVo34DCuRBUXCuqRFw','email','acc_RUQXgVo34DCuRBUXCuqRFw:email',0,'codes@demo.test','{\"kind\":\"email\",\"from\":{\"email\":\"codes@demo.test\"},\"subject\":\"Your code\",\"text\":\"904809 is your code. It is valid for 10 minutes. Do not share it.\",\"secret\":true}',0,0,1,0,0,1795790944628000,NULL,1795790944629751,1795791544629751,5,0,0,NULL,NULL,NULL,NULL,1795790944760000,1795791004760000,0,0),
('01a21d7b-3b30-743f-9989-64a1f6af85bb','acc_RUQXgVo34DCuRBUXCuqRFw','sms','acc_RUQXgVo34DCuRBUXCuqRFw:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"Hello\"}',1,1,1,0,0,1795790945072000,NULL,1795790945075476,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790945130000,1795791005130000,0,0),
('01a21d7b-3b38-73dd-8dcd-0a09143f5225','acc_RUQXgVo34DCuRBUXCuqRFw','sms','acc_RUQXgVo34DCuRBUXCuqRFw:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"Hello\"}',1,1,1,0,0,1795790945080000,NULL,1795790945086475,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790945130000,1795791005130000,0,0),
('01a21d7b-3c28-729d-8baf-604f699969ae','acc_RUQXgVo34DCuRBUXCuqRFw','sms','acc_RUQXgVo34DCuRBUXCuqRFw:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"Hello\"}',1,1,1,0,0,1795790945320000,5680281600000000,5680281600000000,NULL,6,0,1,NULL,NULL,NULL,NULL,1795790945387000,NULL,1,0),
('01a21d7b-3c94-7276-9847-a4d709b13a3e','acc_RUQXgVo34DCuRBUXCuqRFw','sms','acc_RUQXgVo34DCuRBUXCuqRFw:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"Hello\"}',1,1,1,0,0,1795790945428000,NULL,1795790945440146,NULL,4,0,0,NULL,NULL,NULL,NULL,NULL,NULL,0,0),
('01a21d7b-3caf-73af-b708-b2a3f2c0b566','acc_RUQXgVo34DCuRBUXCuqRFw','email','acc_RUQXgVo34DCuRBUXCuqRFw:email',1,'hello@demo.test','{\"kind\":\"email\",\"from\":{\"email\":\"hello@demo.test\",\"name\":\"Acme\"},\"to\":[{\"email\":\"lost@example.com\"}],\"subject\":\"Order\",\"text\":\"Packed.\"}',1,0,1,0,0,1795790945455000,NULL,1795790945464850,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790945524000,1795790950524000,0,0),
('01a21d7b-3cfb-7778-8fb5-6ab5502c6d71','acc_RUQXgVo34DCuRBUXCuqRFw','sms','acc_RUQXgVo34DCuRBUXCuqRFw:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"Your code is 4711\"}',1,1,1,0,0,1795790945524000,NULL,1795790945533400,NULL,5,0,0,NULL,NULL,NULL,NULL,1795790945584000,1795791005584000,0,0),
('01a21d7b-5079-77bf-a0b2-1475c071cebd','acc_yvRzdBNiCICuf2196nD1UJ','sms','acc_yvRzdBNiCICuf2196nD1UJ:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"Hello\"}',1,1,1,0,0,1795790950521000,NULL,1795790950526822,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,0,1),
('01a21d7b-5089-713f-b5cf-03abd806349d','acc_yvRzdBNiCICuf2196nD1UJ','sms','acc_yvRzdBNiCICuf2196nD1UJ:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"Hello\"}',0,1,1,0,0,1795790950537000,NULL,1795790950541244,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,0,1),
('01a21d7b-5099-7762-8ceb-c2972ef13b1d','acc_yvRzdBNiCICuf2196nD1UJ','sms','acc_yvRzdBNiCICuf2196nD1UJ:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"Hello\"}',1,1,1,0,0,1795790950553000,NULL,1795790950575391,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,0,1),
('01a21d7b-50d4-7289-bd9a-4960fcaaea59','acc_RUQXgVo34DCuRBUXCuqRFw','email','acc_RUQXgVo34DCuRBUXCuqRFw:email',1,'hello@demo.test','{\"kind\":\"email\",\"from\":{\"email\":\"hello@demo.test\",\"name\":\"Acme\"},\"to\":[{\"email\":\"ada@example.com\"},{\"email\":\"bo@example.com\"}],\"subject\":\"Order\",\"text\":\"Packed.\",\"attachments\":[{\"filename\":\"a.txt\",\"contentType\":\"text/plain\",\"size\":5,\"sha256\":\"185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969\"}],\"$labels\":{\"tags\":[\"orders\",\"fixture\"],\"metadata\":{}}}',1,0,2,1,0,1795790950612000,NULL,1795790950620377,NULL,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,0,1),
('01a21d7b-50fc-7413-823a-f854c97f1f4b','acc_RUQXgVo34DCuRBUXCuqRFw','email','acc_RUQXgVo34DCuRBUXCuqRFw:email',1,'hello@demo.test','{\"kind\":\"email\",\"from\":{\"email\":\"hello@demo.test\",\"name\":\"Acme\"},\"subject\":\"Order\",\"text\":\"Packed.\"}',1,0,1,0,0,1795790950652000,NULL,1795790950672937,1798382950672937,0,0,0,NULL,NULL,NULL,'01a21d7b-50fc-7413-823a-f5c8b9a9710c',NULL,NULL,0,1),
('01a21d7b-5134-769e-8da5-93cd9e24939a','acc_RUQXgVo34DCuRBUXCuqRFw','sms','acc_RUQXgVo34DCuRBUXCuqRFw:sms',1,'ACME','{\"kind\":\"text\",\"text\":\"Hello\"}',1,1,1,0,0,1795790950708000,NULL,1795790950710922,NULL,4,0,0,NULL,NULL,NULL,NULL,NULL,NULL,0,0);
/*!40000 ALTER TABLE `messaging_batch` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_batch_attachment` (
  `batch` char(36) NOT NULL,
  `digest` varchar(64) NOT NULL,
  `n` int(11) NOT NULL,
  `bytes` longblob NOT NULL,
  PRIMARY KEY (`batch`,`digest`,`n`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_batch_attachment` DISABLE KEYS */;
INSERT INTO `messaging_batch_attachment` VALUES
('01a21d7b-50d4-7289-bd9a-4960fcaaea59','185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969',0,0x48656C6C6F);
/*!40000 ALTER TABLE `messaging_batch_attachment` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_batch_chunk` (
  `batch` char(36) NOT NULL,
  `n` int(11) NOT NULL,
  `recipients` longtext NOT NULL,
  PRIMARY KEY (`batch`,`n`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_batch_chunk` DISABLE KEYS */;
INSERT INTO `messaging_batch_chunk` VALUES
('01a21d7b-3053-765e-b726-b915447a04af',0,'2348012345601\n2348012345602\n2348012345603\n2348012349901\n2348012349902'),
('01a21d7b-306d-7749-86d3-635cdda66372',0,'2348012349903'),
('01a21d7b-3092-7563-8a6f-ef9cd7e96adf',0,'2348012345601'),
('01a21d7b-30f8-706c-ab96-9510b988f9df',0,'2348012349910'),
('01a21d7b-31de-748c-b9e2-8fed30a8ed8f',0,'2348012345611'),
('01a21d7b-3640-718a-a569-cc9ab6405064',0,'ada@example.com'),
('01a21d7b-368f-73fb-870c-495db175f583',0,'bounced@example.com'),
('01a21d7b-3754-72ee-8228-d824e2ee27ff',0,'2348012349912'),
('01a21d7b-379f-7138-be8e-85ddaccb46c0',0,'2348012349901'),
('01a21d7b-37d0-7772-b236-f3b6623bf83b',0,'2348012345621'),
('01a21d7b-3815-74f9-9648-94ff31979381',0,'2348012349909'),
('01a21d7b-38c0-77ee-b8ff-65c3d0f1dc55',0,'2348012345631'),
('01a21d7b-3939-77c9-bebc-f826b3cea956',0,'2348012345632'),
('01a21d7b-3974-706c-9270-8abd54c986c5',0,'bo@example.com'),
('01a21d7b-3b30-743f-9989-64a1f6af85bb',0,'233201234501'),
('01a21d7b-3b38-73dd-8dcd-0a09143f5225',0,'233201234502'),
('01a21d7b-3c28-729d-8baf-604f699969ae',0,'2348012345601'),
('01a21d7b-3c94-7276-9847-a4d709b13a3e',0,'2348012349909'),
('01a21d7b-3caf-73af-b708-b2a3f2c0b566',0,'lost@example.com'),
('01a21d7b-3cfb-7778-8fb5-6ab5502c6d71',0,'2348012349903'),
('01a21d7b-5079-77bf-a0b2-1475c071cebd',0,'2348012345678'),
('01a21d7b-5089-713f-b5cf-03abd806349d',0,'233201234504'),
('01a21d7b-5099-7762-8ceb-c2972ef13b1d',0,'2348012349901'),
('01a21d7b-50d4-7289-bd9a-4960fcaaea59',0,'ada@example.com\nbo@example.com'),
('01a21d7b-50fc-7413-823a-f854c97f1f4b',0,'cy@example.com'),
('01a21d7b-5134-769e-8da5-93cd9e24939a',0,'233201234505');
/*!40000 ALTER TABLE `messaging_batch_chunk` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_batch_label` (
  `batch` char(36) NOT NULL,
  `n` int(11) NOT NULL,
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `tag` varchar(64) NOT NULL,
  `labels` longtext DEFAULT NULL,
  PRIMARY KEY (`batch`,`n`),
  KEY `messaging_batch_label_list` (`tenant`,`tag`,`batch`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_batch_label` DISABLE KEYS */;
INSERT INTO `messaging_batch_label` VALUES
('01a21d7b-3640-718a-a569-cc9ab6405064',0,'acc_RUQXgVo34DCuRBUXCuqRFw','orders','{\"tags\":[\"orders\"],\"metadata\":{}}'),
('01a21d7b-368f-73fb-870c-495db175f583',0,'acc_RUQXgVo34DCuRBUXCuqRFw','orders','{\"tags\":[\"orders\"],\"metadata\":{}}'),
('01a21d7b-50d4-7289-bd9a-4960fcaaea59',0,'acc_RUQXgVo34DCuRBUXCuqRFw','orders','{\"tags\":[\"orders\",\"fixture\"],\"metadata\":{}}'),
('01a21d7b-50d4-7289-bd9a-4960fcaaea59',1,'acc_RUQXgVo34DCuRBUXCuqRFw','fixture',NULL);
/*!40000 ALTER TABLE `messaging_batch_label` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_batch_personal` (
  `batch` char(36) NOT NULL,
  `n` int(11) NOT NULL,
  `entries` longtext NOT NULL,
  PRIMARY KEY (`batch`,`n`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_batch_personal` DISABLE KEYS */;
/*!40000 ALTER TABLE `messaging_batch_personal` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_cancellation` (
  `batch` char(36) NOT NULL,
  `provider` varchar(32) NOT NULL,
  `requested_at` bigint(20) NOT NULL,
  `due_at` bigint(20) NOT NULL,
  `asked` int(11) NOT NULL DEFAULT -1,
  `tries` smallint(6) NOT NULL DEFAULT 0,
  PRIMARY KEY (`batch`,`provider`),
  KEY `messaging_cancellation_due` (`provider`,`due_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_cancellation` DISABLE KEYS */;
/*!40000 ALTER TABLE `messaging_cancellation` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_consent` (
  `contact` char(36) NOT NULL,
  `channel` varchar(16) NOT NULL,
  `category` varchar(32) NOT NULL,
  `state` varchar(16) NOT NULL,
  `at` bigint(20) NOT NULL,
  `source` varchar(255) NOT NULL,
  `evidence` longtext DEFAULT NULL,
  PRIMARY KEY (`contact`,`channel`,`category`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_consent` DISABLE KEYS */;
INSERT INTO `messaging_consent` VALUES
('01a21d7b-30a4-70f3-aa2d-1de25a818fad','whatsapp','*','opted_in',1795790942390000,'api',NULL),
('01a21d7b-31b7-76ee-8ad0-59f89fd64dd6','whatsapp','*','opted_in',1795790942661000,'api',NULL);
/*!40000 ALTER TABLE `messaging_consent` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_consent_history` (
  `id` char(36) NOT NULL,
  `contact` char(36) NOT NULL,
  `channel` varchar(16) NOT NULL,
  `category` varchar(32) NOT NULL,
  `state` varchar(16) NOT NULL,
  `at` bigint(20) NOT NULL,
  `source` varchar(255) NOT NULL,
  `evidence` longtext DEFAULT NULL,
  `recorded_at` bigint(20) NOT NULL,
  PRIMARY KEY (`contact`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_consent_history` DISABLE KEYS */;
INSERT INTO `messaging_consent_history` VALUES
('01a21d7b-30ba-706b-907c-e597c66c3b23','01a21d7b-30a4-70f3-aa2d-1de25a818fad','whatsapp','*','opted_in',1795790942390000,'api',NULL,1795790942394000),
('01a21d7b-31c6-7609-b0c1-111e5dec7f3c','01a21d7b-31b7-76ee-8ad0-59f89fd64dd6','whatsapp','*','opted_in',1795790942661000,'api',NULL,1795790942662000);
/*!40000 ALTER TABLE `messaging_consent_history` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_contact` (
  `id` char(36) NOT NULL,
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `name` varchar(255) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `messaging_contact_list` (`tenant`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_contact` DISABLE KEYS */;
INSERT INTO `messaging_contact` VALUES
('01a21d7b-2e6a-748a-8c64-69c17d261aa1','acc_RUQXgVo34DCuRBUXCuqRFw',NULL,1795790941807000),
('01a21d7b-2e6a-748a-8c64-6f185b57d3c0','acc_RUQXgVo34DCuRBUXCuqRFw',NULL,1795790941807000),
('01a21d7b-2e6a-748a-8c64-709a1e202492','acc_RUQXgVo34DCuRBUXCuqRFw',NULL,1795790941807000),
('01a21d7b-30a4-70f3-aa2d-1de25a818fad','acc_RUQXgVo34DCuRBUXCuqRFw',NULL,1795790942378000),
('01a21d7b-31b7-76ee-8ad0-59f89fd64dd6','acc_RUQXgVo34DCuRBUXCuqRFw',NULL,1795790942652000);
/*!40000 ALTER TABLE `messaging_contact` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_contact_address` (
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `address` varchar(320) NOT NULL,
  `kind` varchar(16) NOT NULL,
  `contact` char(36) NOT NULL,
  `given_at` bigint(20) NOT NULL,
  PRIMARY KEY (`tenant`,`address`),
  KEY `messaging_contact_address_contact` (`contact`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_contact_address` DISABLE KEYS */;
INSERT INTO `messaging_contact_address` VALUES
('acc_RUQXgVo34DCuRBUXCuqRFw','2348012345601','phone','01a21d7b-2e6a-748a-8c64-69c17d261aa1',1795790941802000),
('acc_RUQXgVo34DCuRBUXCuqRFw','2348012345602','phone','01a21d7b-2e6a-748a-8c64-6f185b57d3c0',1795790941802000),
('acc_RUQXgVo34DCuRBUXCuqRFw','2348012345603','phone','01a21d7b-2e6a-748a-8c64-709a1e202492',1795790941802000),
('acc_RUQXgVo34DCuRBUXCuqRFw','2348012345611','phone','01a21d7b-31b7-76ee-8ad0-59f89fd64dd6',1795790942652000),
('acc_RUQXgVo34DCuRBUXCuqRFw','2348012349910','phone','01a21d7b-30a4-70f3-aa2d-1de25a818fad',1795790942379000);
/*!40000 ALTER TABLE `messaging_contact_address` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_contact_group` (
  `id` varchar(64) NOT NULL,
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `name` varchar(255) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `messaging_contact_group_list` (`tenant`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_contact_group` DISABLE KEYS */;
INSERT INTO `messaging_contact_group` VALUES
('grp_jnPDpGkzeQLqsvZPIYRxyj','acc_RUQXgVo34DCuRBUXCuqRFw','Spring customers',1795790941769000);
/*!40000 ALTER TABLE `messaging_contact_group` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_erased_suppression` (
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `digest` varchar(64) NOT NULL,
  `channel` varchar(16) NOT NULL,
  `category` varchar(32) NOT NULL,
  `reason` varchar(255) NOT NULL,
  `at` bigint(20) NOT NULL,
  `message` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`tenant`,`digest`,`channel`,`category`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_erased_suppression` DISABLE KEYS */;
/*!40000 ALTER TABLE `messaging_erased_suppression` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_erasure` (
  `id` char(36) NOT NULL,
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `address` varchar(320) NOT NULL,
  `after` char(36) DEFAULT NULL,
  `walked` smallint(6) NOT NULL DEFAULT 0,
  `places` longtext NOT NULL,
  `due_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_erasure` DISABLE KEYS */;
/*!40000 ALTER TABLE `messaging_erasure` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_group_member` (
  `group_id` varchar(64) NOT NULL,
  `contact` char(36) NOT NULL,
  PRIMARY KEY (`group_id`,`contact`),
  KEY `messaging_group_member_contact` (`contact`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_group_member` DISABLE KEYS */;
INSERT INTO `messaging_group_member` VALUES
('grp_jnPDpGkzeQLqsvZPIYRxyj','01a21d7b-2e6a-748a-8c64-69c17d261aa1'),
('grp_jnPDpGkzeQLqsvZPIYRxyj','01a21d7b-2e6a-748a-8c64-6f185b57d3c0'),
('grp_jnPDpGkzeQLqsvZPIYRxyj','01a21d7b-2e6a-748a-8c64-709a1e202492');
/*!40000 ALTER TABLE `messaging_group_member` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_hold` (
  `lanes` varchar(255) NOT NULL,
  `reason` varchar(32) NOT NULL,
  `since` bigint(20) NOT NULL,
  `until_at` bigint(20) DEFAULT NULL,
  `note` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`lanes`,`reason`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_hold` DISABLE KEYS */;
INSERT INTO `messaging_hold` VALUES
('acc_RUQXgVo34DCuRBUXCuqRFw:email','operator',1795790948509000,NULL,'the fixture keeps it queued'),
('acc_yvRzdBNiCICuf2196nD1UJ:sms','operator',1795790946496000,NULL,'the fixture keeps it queued');
/*!40000 ALTER TABLE `messaging_hold` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_inbound_message` (
  `id` char(36) NOT NULL,
  `token` char(36) NOT NULL,
  `received_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `messaging_inbound_received` (`received_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_inbound_message` DISABLE KEYS */;
INSERT INTO `messaging_inbound_message` VALUES
('8c494451-c26c-8009-ae05-39f2486d8e87','01a21d7b-35ce-731d-989f-86a639108677',1795790943694000);
/*!40000 ALTER TABLE `messaging_inbound_message` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_inbound_text` (
  `contact` char(36) NOT NULL,
  `id` char(36) NOT NULL,
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `channel` varchar(16) NOT NULL,
  `sender` varchar(320) NOT NULL,
  `recipient` varchar(255) NOT NULL,
  `text` longtext DEFAULT NULL,
  `received_at` bigint(20) NOT NULL,
  PRIMARY KEY (`contact`,`id`),
  KEY `messaging_inbound_text_received` (`received_at`),
  KEY `messaging_inbound_text_list` (`tenant`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_inbound_text` DISABLE KEYS */;
INSERT INTO `messaging_inbound_text` VALUES
('01a21d7b-30a4-70f3-aa2d-1de25a818fad','01a21d7b-35db-72ce-80b9-46f2e87bc95c','acc_RUQXgVo34DCuRBUXCuqRFw','whatsapp','2348012349910','2340670027151','Hello',1795790943680000);
/*!40000 ALTER TABLE `messaging_inbound_text` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_instance` (
  `id` smallint(6) NOT NULL,
  `mark` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_instance` DISABLE KEYS */;
INSERT INTO `messaging_instance` VALUES
(1,NULL);
/*!40000 ALTER TABLE `messaging_instance` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_lane` (
  `lane_key` varchar(255) NOT NULL,
  `owner` varchar(255) DEFAULT NULL,
  `fence` bigint(20) NOT NULL DEFAULT 0,
  `lease_until` bigint(20) NOT NULL DEFAULT 0,
  `rate_state` longtext DEFAULT NULL,
  `paused_until` bigint(20) NOT NULL DEFAULT 0,
  `pause_reason` varchar(255) DEFAULT NULL,
  `pause_part` smallint(6) NOT NULL DEFAULT 0,
  PRIMARY KEY (`lane_key`),
  KEY `messaging_lane_held` (`owner`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_lane` DISABLE KEYS */;
INSERT INTO `messaging_lane` VALUES
('acc_RUQXgVo34DCuRBUXCuqRFw:email',NULL,4,0,'01a21d7b-2b27-706d-a847-a095e84c9947 [[798,1],[34,1]]',0,NULL,0),
('acc_RUQXgVo34DCuRBUXCuqRFw:sms','01a21d7b-2b27-706d-a847-a095e84c9947',9,1795790980753719,NULL,0,NULL,0),
('acc_RUQXgVo34DCuRBUXCuqRFw:vas',NULL,2,0,'01a21d7b-2b27-706d-a847-a095e84c9947 [[108,2]]',0,NULL,0),
('acc_RUQXgVo34DCuRBUXCuqRFw:voice',NULL,3,0,'01a21d7b-2b27-706d-a847-a095e84c9947 [[431,2],[73,1]]',0,NULL,0),
('acc_RUQXgVo34DCuRBUXCuqRFw:whatsapp',NULL,2,0,'01a21d7b-2b27-706d-a847-a095e84c9947 [[197,1],[28,1]]',0,NULL,0),
('email-domain:01a21d7b-2eb5-756d-864d-86a25039c491',NULL,1,0,NULL,0,NULL,0),
('webhook:01a21d7b-2e21-750e-9b81-794c417a37ca','01a21d7b-2c70-723c-b5de-d58ebf0c633b',3,1795790960204931,NULL,0,NULL,0);
/*!40000 ALTER TABLE `messaging_lane` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_last_inbound` (
  `contact` char(36) NOT NULL,
  `sender` varchar(255) NOT NULL,
  `last_at` bigint(20) NOT NULL,
  PRIMARY KEY (`contact`,`sender`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_last_inbound` DISABLE KEYS */;
INSERT INTO `messaging_last_inbound` VALUES
('01a21d7b-30a4-70f3-aa2d-1de25a818fad','',1795790943680000),
('01a21d7b-30a4-70f3-aa2d-1de25a818fad','2340670027151',1795790943680000);
/*!40000 ALTER TABLE `messaging_last_inbound` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_message` (
  `batch` char(36) NOT NULL,
  `position` int(11) NOT NULL,
  `submission` int(11) DEFAULT NULL,
  `status` smallint(6) NOT NULL,
  `attempt` smallint(6) NOT NULL,
  `counted_failures` smallint(6) NOT NULL DEFAULT 0,
  `sequence` smallint(6) NOT NULL DEFAULT 0,
  `recipient` varchar(320) NOT NULL,
  `reference` varchar(255) DEFAULT NULL,
  `error_code` varchar(64) DEFAULT NULL,
  `refused_by` varchar(255) DEFAULT NULL,
  `due_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`batch`,`position`),
  KEY `messaging_message_reference` (`reference`),
  KEY `messaging_message_recipient` (`recipient`,`batch`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_message` DISABLE KEYS */;
INSERT INTO `messaging_message` VALUES
('01a21d7b-3053-765e-b726-b915447a04af',0,0,90,1,0,2,'2348012345601',NULL,NULL,NULL,NULL),
('01a21d7b-3053-765e-b726-b915447a04af',1,0,90,1,0,2,'2348012345602',NULL,NULL,NULL,NULL),
('01a21d7b-3053-765e-b726-b915447a04af',2,0,90,1,0,2,'2348012345603',NULL,NULL,NULL,NULL),
('01a21d7b-3053-765e-b726-b915447a04af',3,0,60,1,0,2,'2348012349901',NULL,'absent_subscriber',NULL,NULL),
('01a21d7b-3053-765e-b726-b915447a04af',4,0,50,1,0,2,'2348012349902',NULL,'validity_expired',NULL,NULL),
('01a21d7b-306d-7749-86d3-635cdda66372',0,0,80,1,0,1,'2348012349903',NULL,'destination_refused',NULL,NULL),
('01a21d7b-30f8-706c-ab96-9510b988f9df',0,0,100,1,0,3,'2348012349910','wamid.RkVTsykd8a8MUWNGKyTlMnQdD6-QVMKr',NULL,NULL,NULL),
('01a21d7b-31de-748c-b9e2-8fed30a8ed8f',0,0,100,1,0,3,'2348012345611','wamid.3eAteILK3gtJKdBvz6tvZRreSplsqxvf',NULL,NULL,NULL),
('01a21d7b-3640-718a-a569-cc9ab6405064',0,0,90,1,0,2,'ada@example.com',NULL,NULL,NULL,NULL),
('01a21d7b-368f-73fb-870c-495db175f583',0,0,105,1,0,2,'bounced@example.com',NULL,'5.1.1',NULL,NULL),
('01a21d7b-3754-72ee-8228-d824e2ee27ff',0,0,95,1,0,4,'2348012349912',NULL,NULL,NULL,NULL),
('01a21d7b-379f-7138-be8e-85ddaccb46c0',0,0,64,1,0,2,'2348012349901',NULL,'busy',NULL,NULL),
('01a21d7b-37d0-7772-b236-f3b6623bf83b',0,0,90,1,0,2,'2348012345621',NULL,NULL,NULL,NULL),
('01a21d7b-3815-74f9-9648-94ff31979381',0,0,30,1,0,0,'2348012349909',NULL,'answer_lost',NULL,NULL),
('01a21d7b-38c0-77ee-b8ff-65c3d0f1dc55',0,0,90,1,0,2,'2348012345631',NULL,NULL,NULL,NULL),
('01a21d7b-3939-77c9-bebc-f826b3cea956',0,0,95,1,0,4,'2348012345632',NULL,NULL,NULL,NULL),
('01a21d7b-3974-706c-9270-8abd54c986c5',0,0,90,1,0,2,'bo@example.com',NULL,NULL,NULL,NULL),
('01a21d7b-3b30-743f-9989-64a1f6af85bb',0,0,90,1,0,2,'233201234501',NULL,NULL,NULL,NULL),
('01a21d7b-3b38-73dd-8dcd-0a09143f5225',0,0,40,1,0,1,'233201234502',NULL,NULL,NULL,NULL),
('01a21d7b-3c94-7276-9847-a4d709b13a3e',0,0,20,3,3,0,'2348012349909',NULL,'answer_lost',NULL,NULL),
('01a21d7b-3caf-73af-b708-b2a3f2c0b566',0,0,30,1,0,0,'lost@example.com',NULL,'answer_lost',NULL,NULL),
('01a21d7b-3cfb-7778-8fb5-6ab5502c6d71',0,0,80,1,0,1,'2348012349903',NULL,'destination_refused',NULL,NULL),
('01a21d7b-5134-769e-8da5-93cd9e24939a',0,0,20,1,0,0,'233201234505',NULL,NULL,NULL,NULL);
/*!40000 ALTER TABLE `messaging_message` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_notification` (
  `id` char(36) NOT NULL,
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `status` varchar(16) NOT NULL,
  `steps` longtext NOT NULL,
  `plan` longtext DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `ended_at` bigint(20) DEFAULT NULL,
  `due_at` bigint(20) DEFAULT NULL,
  `idempotency_key` varchar(255) DEFAULT NULL,
  `fingerprint` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `messaging_notification_idempotency` (`tenant`,`idempotency_key`),
  KEY `messaging_notification_due` (`due_at`),
  KEY `messaging_notification_planned` (`tenant`,`id`),
  KEY `messaging_notification_ended` (`ended_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_notification` DISABLE KEYS */;
INSERT INTO `messaging_notification` VALUES
('01a21d7b-50fc-7413-823a-f5c8b9a9710c','acc_RUQXgVo34DCuRBUXCuqRFw','pending','[{\"channel\":\"email\",\"at\":1795790950652,\"batch\":\"01a21d7b-50fc-7413-823a-f854c97f1f4b\"},{\"channel\":\"sms\"}]','{\"after\":2592000000,\"unless\":\"delivered\",\"until\":null,\"messages\":[{\"channel\":\"sms\",\"lane\":\"acc_RUQXgVo34DCuRBUXCuqRFw:sms\",\"class\":\"normal\",\"sender\":\"ACME\",\"content\":{\"kind\":\"text\",\"text\":\"Packed.\"},\"deliveryReport\":true,\"parts\":1,\"recipients\":[\"2348012345601\"]}]}',1795790950652000,NULL,1796050150652000,NULL,NULL);
/*!40000 ALTER TABLE `messaging_notification` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_provider_pause` (
  `provider` varchar(32) NOT NULL,
  `paused_until` bigint(20) NOT NULL,
  `probed_until` bigint(20) NOT NULL DEFAULT 0,
  `reason` varchar(255) NOT NULL,
  `trips` int(11) NOT NULL,
  PRIMARY KEY (`provider`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_provider_pause` DISABLE KEYS */;
/*!40000 ALTER TABLE `messaging_provider_pause` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_rate_slot` (
  `rate_key` varchar(255) NOT NULL,
  `reserved_until` bigint(20) NOT NULL DEFAULT 0,
  PRIMARY KEY (`rate_key`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_rate_slot` DISABLE KEYS */;
/*!40000 ALTER TABLE `messaging_rate_slot` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_report` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `hash` char(36) DEFAULT NULL,
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `batch` char(36) DEFAULT NULL,
  `position` int(11) DEFAULT NULL,
  `provider` varchar(32) NOT NULL,
  `reference` varchar(255) DEFAULT NULL,
  `message_id` varchar(255) DEFAULT NULL,
  `recipient` varchar(320) DEFAULT NULL,
  `status` smallint(6) DEFAULT NULL,
  `raw_status` varchar(255) NOT NULL,
  `error_code` varchar(64) DEFAULT NULL,
  `provider_time` bigint(20) DEFAULT NULL,
  `received_at` bigint(20) NOT NULL,
  `sequence` smallint(6) DEFAULT NULL,
  `details` longtext DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `messaging_report_hash` (`hash`),
  KEY `messaging_report_batch` (`batch`,`id`),
  KEY `messaging_report_list` (`tenant`,`received_at`,`id`),
  KEY `messaging_report_waiting` (`batch`,`reference`),
  KEY `messaging_report_waiting_message` (`batch`,`message_id`)
) ENGINE=InnoDB AUTO_INCREMENT=51 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_report` DISABLE KEYS */;
INSERT INTO `messaging_report` VALUES
(1,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-306d-7749-86d3-635cdda66372',0,'sim',NULL,NULL,'2348012349903',80,'submit','destination_refused',NULL,1795790942399000,1,NULL),
(2,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3053-765e-b726-b915447a04af',0,'sim','sim-96e9ad52bee6f824cf3c5f03e4371807',NULL,'2348012345601',40,'submit',NULL,NULL,1795790942399000,1,NULL),
(3,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3053-765e-b726-b915447a04af',1,'sim','sim-96e9ad52bee6f824cf3c5f03e4371807',NULL,'2348012345602',40,'submit',NULL,NULL,1795790942399000,1,NULL),
(4,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3053-765e-b726-b915447a04af',2,'sim','sim-96e9ad52bee6f824cf3c5f03e4371807',NULL,'2348012345603',40,'submit',NULL,NULL,1795790942399000,1,NULL),
(5,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3053-765e-b726-b915447a04af',3,'sim','sim-96e9ad52bee6f824cf3c5f03e4371807',NULL,'2348012349901',40,'submit',NULL,NULL,1795790942399000,1,NULL),
(6,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3053-765e-b726-b915447a04af',4,'sim','sim-96e9ad52bee6f824cf3c5f03e4371807',NULL,'2348012349902',40,'submit',NULL,NULL,1795790942399000,1,NULL),
(8,'01a21d7b-30be-83a9-a173-1c6e5dfc1fb7','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3053-765e-b726-b915447a04af',3,'sim','sim-96e9ad52bee6f824cf3c5f03e4371807',NULL,'2348012349901',60,'UNDELIV','absent_subscriber',1795790942398000,1795790942476000,2,NULL),
(9,'01a21d7b-30ae-840b-a23b-d8f748a7755c','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3053-765e-b726-b915447a04af',0,'sim','sim-96e9ad52bee6f824cf3c5f03e4371807',NULL,'2348012345601',90,'DELIVRD',NULL,1795790942382000,1795790942492000,2,NULL),
(11,'01a21d7b-30d2-8b52-a215-ccc93d2e7a41','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3053-765e-b726-b915447a04af',1,'sim','sim-96e9ad52bee6f824cf3c5f03e4371807',NULL,'2348012345602',90,'DELIVRD',NULL,1795790942418000,1795790942506000,2,NULL),
(12,'01a21d7b-30b9-81b8-ab3a-6744158e4b9e','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3053-765e-b726-b915447a04af',4,'sim','sim-96e9ad52bee6f824cf3c5f03e4371807',NULL,'2348012349902',50,'EXPIRED','validity_expired',1795790942393000,1795790942527000,2,NULL),
(14,'01a21d7b-30c2-81d9-a9d6-d2a3d78eeff1','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3053-765e-b726-b915447a04af',2,'sim','sim-96e9ad52bee6f824cf3c5f03e4371807',NULL,'2348012345603',90,'DELIVRD',NULL,1795790942402000,1795790942544000,2,NULL),
(15,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-30f8-706c-ab96-9510b988f9df',0,'sim','sim-abb85ab66510f6f300d5b014aca077b1','wamid.RkVTsykd8a8MUWNGKyTlMnQdD6-QVMKr','2348012349910',40,'submit',NULL,NULL,1795790942612000,1,NULL),
(16,'01a21d7b-317f-8128-a195-bc77841a965d','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-30f8-706c-ab96-9510b988f9df',0,'sim','sim-abb85ab66510f6f300d5b014aca077b1',NULL,'2348012349910',90,'DELIVRD',NULL,1795790942591000,1795790942677000,2,NULL),
(17,'01a21d7b-3180-8820-a88d-96866e3be044','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-30f8-706c-ab96-9510b988f9df',0,'sim','sim-abb85ab66510f6f300d5b014aca077b1',NULL,'2348012349910',100,'READ',NULL,1795790942592000,1795790942694000,3,NULL),
(18,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-31de-748c-b9e2-8fed30a8ed8f',0,'sim','sim-d0dbd99085faf78573bbb6d64e9dec31','wamid.3eAteILK3gtJKdBvz6tvZRreSplsqxvf','2348012345611',40,'submit',NULL,NULL,1795790942775000,1,NULL),
(19,'01a21d7b-3247-824d-ae2e-dbf1a028a5c4','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-31de-748c-b9e2-8fed30a8ed8f',0,'sim','sim-d0dbd99085faf78573bbb6d64e9dec31',NULL,'2348012345611',90,'DELIVRD',NULL,1795790942791000,1795790942919000,2,NULL),
(20,'01a21d7b-3248-8011-a216-15e12c24fffe','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-31de-748c-b9e2-8fed30a8ed8f',0,'sim','sim-d0dbd99085faf78573bbb6d64e9dec31',NULL,'2348012345611',100,'READ',NULL,1795790942792000,1795790942945000,3,NULL),
(21,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3640-718a-a569-cc9ab6405064',0,'sim','sim-92074cd1cfb0e3961131908e30eb80b7',NULL,'ada@example.com',40,'submit',NULL,NULL,1795790944024000,1,NULL),
(22,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-368f-73fb-870c-495db175f583',0,'sim','sim-64170c7769dfa0a5efb14bce550d85a0',NULL,'bounced@example.com',40,'submit',NULL,NULL,1795790944024000,1,NULL),
(24,'01a21d7b-36e8-8c06-a351-9ecbe00a8e7b','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-368f-73fb-870c-495db175f583',0,'sim','sim-64170c7769dfa0a5efb14bce550d85a0',NULL,'bounced@example.com',105,'failed','5.1.1',1795790943976000,1795790944136000,2,'{\"category\":\"recipient\",\"smtp_code\":550,\"enhanced_code\":\"5.1.1\",\"diagnostic\":\"550 5.1.1 No such user here\",\"remote_mta\":\"mx.simulator.test\"}'),
(25,'01a21d7b-36e7-8ad5-a331-20f1f67ceadf','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3640-718a-a569-cc9ab6405064',0,'sim','sim-92074cd1cfb0e3961131908e30eb80b7',NULL,'ada@example.com',90,'delivered',NULL,1795790943975000,1795790944172000,2,NULL),
(26,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3754-72ee-8228-d824e2ee27ff',0,'sim','sim-2c5cd6eb3c5e68d199219eb9b0e786fc',NULL,'2348012349912',41,'submit',NULL,NULL,1795790944308000,1,NULL),
(27,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-379f-7138-be8e-85ddaccb46c0',0,'sim','sim-f8d446966b7741df08fb9bd9f73eb53c',NULL,'2348012349901',41,'submit',NULL,NULL,1795790944308000,1,NULL),
(29,'01a21d7b-37fa-8740-a785-4d8b31cfbff3','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3754-72ee-8228-d824e2ee27ff',0,'sim','sim-2c5cd6eb3c5e68d199219eb9b0e786fc',NULL,'2348012349912',45,'ringing',NULL,1795790944250000,1795790944357000,2,NULL),
(30,'01a21d7b-3822-87a3-ae71-89141d4deab5','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3754-72ee-8228-d824e2ee27ff',0,'sim','sim-2c5cd6eb3c5e68d199219eb9b0e786fc',NULL,'2348012349912',91,'answered',NULL,1795790944290000,1795790944373000,3,'{\"answered_at\":\"2026-11-27T14:49:04.290Z\",\"answered_by\":\"human\"}'),
(31,'01a21d7b-3823-8220-aac7-11dbdb615ece','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3754-72ee-8228-d824e2ee27ff',0,'sim','sim-2c5cd6eb3c5e68d199219eb9b0e786fc',NULL,'2348012349912',95,'completed',NULL,1795790944291000,1795790944400000,4,'{\"answered_at\":\"2026-11-27T14:49:04.290Z\",\"answered_by\":\"human\",\"ended_at\":\"2026-11-27T14:49:11.290Z\",\"duration\":7,\"hangup_cause\":\"normal_clearing\",\"digits\":\"1\"}'),
(33,'01a21d7b-381b-869f-a6d6-6fb680a29599','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-379f-7138-be8e-85ddaccb46c0',0,'sim','sim-f8d446966b7741df08fb9bd9f73eb53c',NULL,'2348012349901',64,'busy','busy',1795790944283000,1795790944440000,2,'{\"ended_at\":\"2026-11-27T14:49:04.283Z\",\"duration\":0,\"hangup_cause\":\"busy\"}'),
(34,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-37d0-7772-b236-f3b6623bf83b',0,'sim','dundun-b6dda9f1037d1ca0b606c2411341521cd4130ef3',NULL,'2348012345621',42,'submit',NULL,NULL,1795790944522000,1,NULL),
(35,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-38c0-77ee-b8ff-65c3d0f1dc55',0,'sim','sim-22d3a61ac2b9bdca51d86971d8412a22',NULL,'2348012345631',40,'submit',NULL,NULL,1795790944588000,1,NULL),
(36,'01a21d7b-3933-884e-a18e-0cb04dd3b3c7','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-38c0-77ee-b8ff-65c3d0f1dc55',0,'sim','sim-22d3a61ac2b9bdca51d86971d8412a22',NULL,'2348012345631',90,'DELIVRD',NULL,1795790944563000,1795790944643000,2,NULL),
(37,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3939-77c9-bebc-f826b3cea956',0,'sim','sim-ed76d80e11b785f64248fe240e260ce2',NULL,'2348012345632',41,'submit',NULL,NULL,1795790944667000,1,NULL),
(38,'01a21d7b-38c4-8d18-aaa0-5879bfd77df8','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-37d0-7772-b236-f3b6623bf83b',0,'sim','dundun-b6dda9f1037d1ca0b606c2411341521cd4130ef3',NULL,'2348012345621',90,'SUCCESSFUL',NULL,1795790944452000,1795790944667000,2,NULL),
(39,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3974-706c-9270-8abd54c986c5',0,'sim','sim-b15aabf71688a9dee9ca4b72539df7da',NULL,'bo@example.com',40,'submit',NULL,NULL,1795790944760000,1,NULL),
(40,'01a21d7b-3970-864f-af22-2ac0ff7be585','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3939-77c9-bebc-f826b3cea956',0,'sim','sim-ed76d80e11b785f64248fe240e260ce2',NULL,'2348012345632',45,'ringing',NULL,1795790944624000,1795790944779000,2,NULL),
(41,'01a21d7b-3985-8cc1-adf5-db1cdf9b8c78','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3939-77c9-bebc-f826b3cea956',0,'sim','sim-ed76d80e11b785f64248fe240e260ce2',NULL,'2348012345632',91,'answered',NULL,1795790944645000,1795790944819000,3,'{\"answered_at\":\"2026-11-27T14:49:04.645Z\",\"answered_by\":\"human\"}'),
(42,'01a21d7b-39e2-8011-a542-b6c6fbfcbf02','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3974-706c-9270-8abd54c986c5',0,'sim','sim-b15aabf71688a9dee9ca4b72539df7da',NULL,'bo@example.com',90,'delivered',NULL,1795790944738000,1795790944852000,2,NULL),
(43,'01a21d7b-3986-8d66-ad86-c5c6d4cf21a5','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3939-77c9-bebc-f826b3cea956',0,'sim','sim-ed76d80e11b785f64248fe240e260ce2',NULL,'2348012345632',95,'completed',NULL,1795790944646000,1795790944856000,4,'{\"answered_at\":\"2026-11-27T14:49:04.645Z\",\"answered_by\":\"human\",\"ended_at\":\"2026-11-27T14:49:11.645Z\",\"duration\":7,\"hangup_cause\":\"normal_clearing\"}'),
(45,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3b30-743f-9989-64a1f6af85bb',0,'up','0ce43c9d-cdf0-4e79-aa4f-6f605fb23929',NULL,'233201234501',40,'submit',NULL,NULL,1795790945130000,1,NULL),
(46,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3b38-73dd-8dcd-0a09143f5225',0,'up','e22db066-b503-4f60-90e4-1e8c4254698a',NULL,'233201234502',40,'submit',NULL,NULL,1795790945130000,1,NULL),
(48,'019b7ca9-8f2e-8a97-a502-0ec70ede024e','acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3b30-743f-9989-64a1f6af85bb',0,'up','0ce43c9d-cdf0-4e79-aa4f-6f605fb23929','0ce43c9d-cdf0-4e79-aa4f-6f605fb23929-0','233201234501',90,'delivered',NULL,1767323045678000,1795790945196000,2,NULL),
(49,'019b7ca9-8f2e-8295-afb7-e297f6b34ed1','',NULL,NULL,'up','0190aaaa-0000-7000-8000-000000000000','0190aaaa-0000-7000-8000-000000000000-0','233201234503',90,'delivered',NULL,1767323045678000,1795790945250000,NULL,NULL),
(50,NULL,'acc_RUQXgVo34DCuRBUXCuqRFw','01a21d7b-3cfb-7778-8fb5-6ab5502c6d71',0,'sim',NULL,NULL,'2348012349903',80,'submit','destination_refused',NULL,1795790945584000,1,NULL);
/*!40000 ALTER TABLE `messaging_report` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_resend` (
  `batch` char(36) NOT NULL,
  `position` int(11) NOT NULL,
  `new_batch` char(36) NOT NULL,
  `resent_by` varchar(255) DEFAULT NULL,
  `resent_at` bigint(20) NOT NULL,
  PRIMARY KEY (`batch`,`position`),
  KEY `messaging_resend_new` (`new_batch`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_resend` DISABLE KEYS */;
INSERT INTO `messaging_resend` VALUES
('01a21d7b-306d-7749-86d3-635cdda66372',0,'01a21d7b-3cfb-7778-8fb5-6ab5502c6d71','ada',1795790945540000);
/*!40000 ALTER TABLE `messaging_resend` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_submission` (
  `batch` char(36) NOT NULL,
  `n` int(11) NOT NULL,
  `first_position` int(11) NOT NULL,
  `last_position` int(11) NOT NULL,
  `members` longtext DEFAULT NULL,
  `attempt` smallint(6) NOT NULL,
  `fence` bigint(20) NOT NULL,
  `provider` varchar(32) NOT NULL,
  `first_sent_at` bigint(20) NOT NULL,
  `content` longtext DEFAULT NULL,
  `outcome` smallint(6) DEFAULT NULL,
  `reference` varchar(255) DEFAULT NULL,
  `error_code` varchar(255) DEFAULT NULL,
  `error_text` longtext DEFAULT NULL,
  `details` longtext DEFAULT NULL,
  `finished_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`batch`,`n`),
  KEY `messaging_submission_open` (`outcome`,`batch`,`n`),
  KEY `messaging_submission_reference` (`reference`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_submission` DISABLE KEYS */;
INSERT INTO `messaging_submission` VALUES
('01a21d7b-3053-765e-b726-b915447a04af',0,0,4,NULL,1,1,'sim',1795790942369000,NULL,1,'sim-96e9ad52bee6f824cf3c5f03e4371807',NULL,NULL,NULL,1795790942399000),
('01a21d7b-306d-7749-86d3-635cdda66372',0,0,0,NULL,1,1,'sim',1795790942369000,NULL,2,NULL,'destination_refused','The simulated carrier refuses such recipients, as it does numbers ending in 9903 and rejected@',NULL,1795790942399000),
('01a21d7b-30f8-706c-ab96-9510b988f9df',0,0,0,NULL,1,1,'sim',1795790942561000,NULL,1,'sim-abb85ab66510f6f300d5b014aca077b1',NULL,NULL,'{\"sender\":\"2340670027151\",\"category\":\"utility\",\"cost\":\"0.0100\",\"currency\":\"USD\"}',1795790942612000),
('01a21d7b-31de-748c-b9e2-8fed30a8ed8f',0,0,0,NULL,1,2,'sim',1795790942765000,NULL,1,'sim-d0dbd99085faf78573bbb6d64e9dec31',NULL,NULL,'{\"sender\":\"2340670027151\",\"category\":\"utility\",\"cost\":\"0.0100\",\"currency\":\"USD\"}',1795790942775000),
('01a21d7b-3640-718a-a569-cc9ab6405064',0,0,0,NULL,1,1,'sim',1795790943949000,NULL,1,'sim-92074cd1cfb0e3961131908e30eb80b7',NULL,NULL,NULL,1795790944024000),
('01a21d7b-368f-73fb-870c-495db175f583',0,0,0,NULL,1,1,'sim',1795790943949000,NULL,1,'sim-64170c7769dfa0a5efb14bce550d85a0',NULL,NULL,NULL,1795790944024000),
('01a21d7b-3754-72ee-8228-d824e2ee27ff',0,0,0,NULL,1,1,'sim',1795790944248000,NULL,1,'sim-2c5cd6eb3c5e68d199219eb9b0e786fc',NULL,NULL,NULL,1795790944308000),
('01a21d7b-379f-7138-be8e-85ddaccb46c0',0,0,0,NULL,1,1,'sim',1795790944248000,NULL,1,'sim-f8d446966b7741df08fb9bd9f73eb53c',NULL,NULL,NULL,1795790944308000),
('01a21d7b-37d0-7772-b236-f3b6623bf83b',0,0,0,NULL,1,1,'sim',1795790944424000,NULL,1,'dundun-b6dda9f1037d1ca0b606c2411341521cd4130ef3',NULL,NULL,'{\"cost\":\"100\",\"currency\":\"NGN\",\"delivered_amount\":\"100\",\"operator_reference\":\"SIM-dundun-b6dda9f1037d1ca0b606c2411341521cd4130ef3\"}',1795790944522000),
('01a21d7b-3815-74f9-9648-94ff31979381',0,0,0,NULL,1,1,'sim',1795790944424000,NULL,4,'dundun-9151273a5286644382ec389a9f3bd5bf38a4d21d','answer_lost','The simulated carrier lost its answer',NULL,1795790944522000),
('01a21d7b-38c0-77ee-b8ff-65c3d0f1dc55',0,0,0,NULL,1,3,'sim',1795790944548000,NULL,1,'sim-22d3a61ac2b9bdca51d86971d8412a22',NULL,NULL,NULL,1795790944588000),
('01a21d7b-3939-77c9-bebc-f826b3cea956',0,0,0,NULL,1,3,'sim',1795790944624000,NULL,1,'sim-ed76d80e11b785f64248fe240e260ce2',NULL,NULL,NULL,1795790944667000),
('01a21d7b-3974-706c-9270-8abd54c986c5',0,0,0,NULL,1,3,'sim',1795790944704000,NULL,1,'sim-b15aabf71688a9dee9ca4b72539df7da',NULL,NULL,NULL,1795790944760000),
('01a21d7b-3b30-743f-9989-64a1f6af85bb',0,0,0,NULL,1,4,'up',1795790945103000,NULL,1,'0ce43c9d-cdf0-4e79-aa4f-6f605fb23929',NULL,NULL,NULL,1795790945130000),
('01a21d7b-3b38-73dd-8dcd-0a09143f5225',0,0,0,NULL,1,4,'up',1795790945103000,NULL,1,'e22db066-b503-4f60-90e4-1e8c4254698a',NULL,NULL,NULL,1795790945130000),
('01a21d7b-3c94-7276-9847-a4d709b13a3e',0,0,0,NULL,3,7,'sim',1795790945472000,NULL,NULL,NULL,'answer_lost','The simulated carrier lost its answer',NULL,NULL),
('01a21d7b-3caf-73af-b708-b2a3f2c0b566',0,0,0,NULL,1,4,'sim',1795790945499000,NULL,4,NULL,'answer_lost','The simulated relay lost its answer',NULL,1795790945524000),
('01a21d7b-3cfb-7778-8fb5-6ab5502c6d71',0,0,0,NULL,1,6,'sim',1795790945557000,NULL,2,NULL,'destination_refused','The simulated carrier refuses such recipients, as it does numbers ending in 9903 and rejected@',NULL,1795790945584000),
('01a21d7b-5134-769e-8da5-93cd9e24939a',0,0,0,NULL,1,9,'up',1795790950752000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
/*!40000 ALTER TABLE `messaging_submission` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_suppression` (
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `address` varchar(320) NOT NULL,
  `channel` varchar(16) NOT NULL,
  `category` varchar(32) NOT NULL,
  `reason` varchar(255) NOT NULL,
  `at` bigint(20) NOT NULL,
  `message` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`tenant`,`address`,`channel`,`category`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_suppression` DISABLE KEYS */;
INSERT INTO `messaging_suppression` VALUES
('acc_RUQXgVo34DCuRBUXCuqRFw','2348012345677','*','*','opted out',1795790946492000,NULL),
('acc_RUQXgVo34DCuRBUXCuqRFw','2348012345698','voice','marketing','do_not_call',1795790944055000,NULL),
('acc_RUQXgVo34DCuRBUXCuqRFw','bounced@example.com','email','*','hard_bounce',1795790944184000,'01a21d7b-368f-73fb-870c-495db175f583-0'),
('acc_RUQXgVo34DCuRBUXCuqRFw','left@example.com','email','*','manual',1795790941826000,NULL);
/*!40000 ALTER TABLE `messaging_suppression` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_vas_allowance` (
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `currency` varchar(3) NOT NULL,
  `daily` bigint(20) NOT NULL,
  `per_number` bigint(20) NOT NULL,
  `allowed_at` bigint(20) NOT NULL,
  `tally` bigint(20) DEFAULT NULL,
  `version` bigint(20) NOT NULL,
  PRIMARY KEY (`tenant`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_vas_allowance` DISABLE KEYS */;
INSERT INTO `messaging_vas_allowance` VALUES
('acc_RUQXgVo34DCuRBUXCuqRFw','NGN',500000000,50000000,1795790941647000,2000000,1795790941647002);
/*!40000 ALTER TABLE `messaging_vas_allowance` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_vas_order` (
  `batch` char(36) NOT NULL,
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `reference` varchar(255) NOT NULL,
  `fingerprint` varchar(255) NOT NULL,
  `number_digest` varchar(255) NOT NULL,
  `product` varchar(255) NOT NULL,
  `type` varchar(16) NOT NULL,
  `amount` bigint(20) NOT NULL,
  `currency` varchar(3) NOT NULL,
  `network` varchar(255) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `tell_at` bigint(20) DEFAULT NULL,
  `settled_at` bigint(20) DEFAULT NULL,
  `settled_as` varchar(16) DEFAULT NULL,
  `settled_by` varchar(255) DEFAULT NULL,
  `settled_note` longtext DEFAULT NULL,
  PRIMARY KEY (`batch`),
  UNIQUE KEY `messaging_vas_order_reference` (`reference`,`tenant`),
  KEY `messaging_vas_order_recent` (`tenant`,`created_at`),
  KEY `messaging_vas_order_number` (`number_digest`,`tenant`,`created_at`),
  KEY `messaging_vas_order_list` (`tenant`,`batch`),
  KEY `messaging_vas_order_tell` (`tell_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_vas_order` DISABLE KEYS */;
INSERT INTO `messaging_vas_order` VALUES
('01a21d7b-37d0-7772-b236-f3b6623bf83b','acc_RUQXgVo34DCuRBUXCuqRFw','shop-1','TbCBlDp-Q14WYLOjVPGCzj3KovTna9gcpDfzCWKlv5E','CB62rkVYLBbRcaJrqHfD6dnogYZN5YSWTGRzSximvAs','airtime-ng','airtime',1000000,'NGN',NULL,1795790944208000,1795877344208000,NULL,NULL,NULL,NULL),
('01a21d7b-3815-74f9-9648-94ff31979381','acc_RUQXgVo34DCuRBUXCuqRFw','shop-2','u-mDblzycUPjQWhJNBFBgrPKT5uliWo9bWs63dezCeY','vApLHKnAG8Da2Q-VZ-V3GkfaNejdEou3Gst2wY2mCtM','airtime-ng','airtime',1000000,'NGN',NULL,1795790944277000,1795877344277000,NULL,NULL,NULL,NULL);
/*!40000 ALTER TABLE `messaging_vas_order` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_verification` (
  `id` char(36) NOT NULL,
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `channel` varchar(16) NOT NULL,
  `country` varchar(2) NOT NULL,
  `code` varchar(255) NOT NULL,
  `status` varchar(16) NOT NULL,
  `tries` smallint(6) NOT NULL DEFAULT 0,
  `attempts` smallint(6) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `expires_at` bigint(20) NOT NULL,
  `batch` char(36) NOT NULL,
  `erase_at` bigint(20) DEFAULT NULL,
  `idempotency_key` varchar(255) DEFAULT NULL,
  `fingerprint` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `messaging_verification_recent` (`tenant`,`country`,`created_at`),
  KEY `messaging_verification_erase` (`erase_at`),
  KEY `messaging_verification_key` (`tenant`,`idempotency_key`),
  KEY `messaging_verification_old` (`created_at`),
  KEY `messaging_verification_batch` (`batch`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_verification` DISABLE KEYS */;
INSERT INTO `messaging_verification` VALUES
('01a21d7b-385c-772e-828c-f659741230f2','acc_RUQXgVo34DCuRBUXCuqRFw','sms','NG','ZkwPDb6x_Ky_GyXSdNY1gCKbePX-ENpjeSVHoUPM1Wc','pending',0,5,1795790944348000,1795791544348000,'01a21d7b-38c0-77ee-b8ff-65c3d0f1dc55',1795791544348000,NULL,NULL),
('01a21d7b-3909-77ed-959d-09e751cc5dd1','acc_RUQXgVo34DCuRBUXCuqRFw','voice','NG','kQMQL7ihYs80JWzlmPksZfWZDkOyG_SveiBLi8nFaZc','pending',0,5,1795790944521000,1795791544521000,'01a21d7b-3939-77c9-bebc-f826b3cea956',1795791544521000,NULL,NULL),
('01a21d7b-395a-758f-bf8e-9e7f45d0f71e','acc_RUQXgVo34DCuRBUXCuqRFw','email','','r9i5qxJT4KgL58A03FFG4eCLl4dger7XGWv7rchOfDI','pending',0,5,1795790944602000,1795791544602000,'01a21d7b-3974-706c-9270-8abd54c986c5',1795791544602000,NULL,NULL);
/*!40000 ALTER TABLE `messaging_verification` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `messaging_verification_limit` (
  `tenant` varchar(255) NOT NULL DEFAULT '',
  `scope` varchar(16) NOT NULL,
  `subject` varchar(255) NOT NULL,
  `window_at` bigint(20) NOT NULL,
  `started` int(11) NOT NULL,
  `next_at` bigint(20) NOT NULL,
  PRIMARY KEY (`tenant`,`scope`,`subject`),
  KEY `messaging_verification_window` (`window_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `messaging_verification_limit` DISABLE KEYS */;
INSERT INTO `messaging_verification_limit` VALUES
('acc_RUQXgVo34DCuRBUXCuqRFw','account','-',1795790944348000,3,0),
('acc_RUQXgVo34DCuRBUXCuqRFw','country','-',1795790944602000,1,0),
('acc_RUQXgVo34DCuRBUXCuqRFw','country','NG',1795790944348000,2,0),
('acc_RUQXgVo34DCuRBUXCuqRFw','network','LUTlF-mqIvf5ImNyoYtT60tghvpre1-QSFQjCJlqp8o',1795790944602000,1,0),
('acc_RUQXgVo34DCuRBUXCuqRFw','network','LeUndDsreFjLz5wKyzB8zI9kcnB_6RGJ8_-lGoePNNY',1795790944348000,2,0),
('acc_RUQXgVo34DCuRBUXCuqRFw','recipient','1gvV1FDBsq40gFEyTpWRxGhqCqW61kB1lVO1a3J-NkY',1795790944602000,1,1795790974602000),
('acc_RUQXgVo34DCuRBUXCuqRFw','recipient','G_IdSmUYZkIkR7HuLgRHyqUkQTP0bZM-WN7IDW9Y2nc',1795790944521000,1,1795790974521000),
('acc_RUQXgVo34DCuRBUXCuqRFw','recipient','vmzpzXRIQvIanm8FDGYUteBCqkG96OE-7gNou3mayUo',1795790944348000,1,1795790974348000);
/*!40000 ALTER TABLE `messaging_verification_limit` ENABLE KEYS */;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `migrations` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `timestamp` bigint(20) NOT NULL,
  `name` varchar(255) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=16 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!40000 ALTER TABLE `migrations` DISABLE KEYS */;
INSERT INTO `migrations` VALUES
(1,1700000001000,'Accounts1700000001000'),
(2,1700000002000,'Webhooks1700000002000'),
(3,1700000003000,'Health1700000003000'),
(4,1700000003000,'Secrets1700000003000'),
(5,1700000005000,'EmailDomains1700000005000'),
(6,1700000006000,'Portal1700000006000'),
(7,1700000008000,'Callers1700000008000'),
(8,1700000009000,'Smpp1700000009000'),
(9,1790000000000,'Store1790000000000'),
(10,1790000000010,'Contacts1790000000010'),
(11,1790000000020,'Vas1790000000020'),
(12,1790000000030,'Verifications1790000000030'),
(13,1790000000040,'Operations1790000000040'),
(14,1790000000050,'Cancellations1790000000050'),
(15,1790000000100,'RecipientIndex1790000000100');
/*!40000 ALTER TABLE `migrations` ENABLE KEYS */;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;
/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;