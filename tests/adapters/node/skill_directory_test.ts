import {
  bundleSkills,
  fsSkillSource,
} from "../../../adapters/node/skill_directory.ts";
import { skillDirectoryContract } from "../skill_directory_contract.ts";

skillDirectoryContract("node", { bundleSkills, fsSkillSource });
